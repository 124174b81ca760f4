// The prefix cache: publish, match, evict.

#include <algorithm>
#include <string>
#include <vector>

#include "tests/conformance/envelope.h"
#include "tests/conformance/families.h"
#include "tests/conformance/ops.h"

namespace superfluid::conformance {
namespace {

constexpr size_t kPrefix = 128;

std::vector<std::string> Calls(std::vector<std::string> more = {}) {
  more.insert(more.end(), {"tick", "match", "publish_sequence", "unpublish", "cache_evict"});
  return more;
}

// The shortest of the matches of all spaces.
uint64_t Matched(Driver& driver, const Tokens& tokens, std::vector<uint64_t> media = {}) {
  const auto result = driver.peer().Await<linkw::MatchResult>(
      driver.Send(linkw::MatchRequest{.span = driver.Put(tokens), .media_deps = std::move(media)}));
  ExpectEq(result.status, Status::kOk, "status of MATCH_RES");
  Expect(!result.spaces.empty(), "MATCH_RES without a space");
  uint64_t least = tokens.size();
  for (const linkw::SpaceMatch& match : result.spaces) {
    Expect(match.matched_tokens <= tokens.size(), "more tokens matched than there are");
    least = std::min(least, match.matched_tokens);
  }
  return least;
}

void Publish(Driver& driver, SequenceId sequence, const Tokens& tokens) {
  driver.Ok<linkw::PublishSequenceResult>(
      linkw::PublishSequence{.sequence = sequence, .span = driver.Put(tokens)});
}

// Makes a sequence of new tokens and publishes it.
Tokens PublishedPrompt(Driver& driver) {
  Tokens prompt = driver.Prompt(kPrefix);
  const SequenceId sequence = driver.Start(prompt);
  Publish(driver, sequence, prompt);
  driver.Drop(sequence);
  return prompt;
}

uint64_t Evict(Driver& driver, uint64_t target, uint64_t most = 0) {
  return driver
      .Ok<linkw::CacheEvictResult>(linkw::CacheEvict{
          .bytes_target = target, .policy = {.evictable_classes = ~0u, .max_evict_bytes = most}})
      .bytes_freed;
}

void EvictAll(Driver& driver) { Evict(driver, uint64_t{1} << 62); }

void PublishedIsMatched(Context& context) {
  Driver driver(context);
  EvictAll(driver);
  const Tokens prompt = driver.Prompt(kPrefix);
  ExpectEq(Matched(driver, prompt), uint64_t{0}, "tokens that nobody published");
  const SequenceId sequence = driver.Start(prompt);
  Publish(driver, sequence, prompt);
  const uint64_t whole = Matched(driver, prompt);
  Expect(whole > 0, "a published prefix is not matched");
  Tokens longer = prompt;
  for (const Token token : driver.Prompt(30)) longer.push_back(token);
  ExpectEq(Matched(driver, longer), whole, "a longer span");
  Tokens other = prompt;
  other[0] = (other[0] + 1) % driver.facts().vocab_size;
  ExpectEq(Matched(driver, other), uint64_t{0}, "a span that differs in its first token");
  other = prompt;
  other[kPrefix / 2] = (other[kPrefix / 2] + 1) % driver.facts().vocab_size;
  Expect(Matched(driver, other) <= kPrefix / 2, "a span that differs in its middle");
  ExpectEq(Matched(driver, {}), uint64_t{0}, "an empty span");
}

void WrongPublishing(Context& context) {
  Driver driver(context);
  EvictAll(driver);
  const Tokens prompt = driver.Prompt(kPrefix);
  const SequenceId sequence = driver.Start(prompt);
  Tokens other = prompt;
  other[3] = (other[3] + 1) % driver.facts().vocab_size;
  const auto refused = [&](SequenceId of, const Tokens& tokens, Status status,
                           std::string_view what) {
    driver.Refused(linkw::PublishSequence{.sequence = of, .span = driver.Put(tokens)}, {status},
                   what);
  };
  refused(sequence, other, Status::kInvalidArgument, "tokens that are not the sequence's");
  Tokens longer = prompt;
  longer.push_back(0);
  refused(sequence, longer, Status::kInvalidArgument, "more tokens than the sequence has");
  refused(sequence, {}, Status::kInvalidArgument, "no tokens");
  refused(SequenceId(987654321), prompt, Status::kUnknownHandle, "an unknown sequence");
  ExpectEq(Matched(driver, prompt), uint64_t{0}, "what was refused is in the cache");
}

void WrongSpans(Context& context) {
  Driver driver(context);
  const Tokens prompt = driver.Prompt(kPrefix);
  const SequenceId sequence = driver.Start(prompt);
  linkw::TokenSpan stale = driver.Put(prompt);
  stale.generation += 2;
  linkw::TokenSpan beyond = driver.Put(prompt);
  beyond.slot = 64;
  for (const auto& [span, status] : std::vector<std::pair<linkw::TokenSpan, Status>>{
           {stale, Status::kRejectBadRefGeneration}, {beyond, Status::kInvalidArgument}}) {
    driver.ExpectRefused(driver.Send(linkw::MatchRequest{.span = span}), {status}, "MATCH_REQ");
    driver.Refused(linkw::PublishSequence{.sequence = sequence, .span = span}, {status},
                   "PUBLISH_SEQUENCE");
    driver.Refused(linkw::Unpublish{span}, {status}, "UNPUBLISH");
    if (!driver.facts().Has("seed")) continue;
    driver.ExpectRefused(driver.Send(linkw::SeedAcquire{.span = span, .prefix_len = 16}), {status},
                         "SEED_ACQUIRE");
  }
}

void MediaIsPartOfTheKey(Context& context) {
  Driver driver(context);
  const Tokens prompt = PublishedPrompt(driver);
  Expect(Matched(driver, prompt) > 0, "a published prefix is not matched");
  ExpectEq(Matched(driver, prompt, {1, 2, 3}), uint64_t{0}, "the same tokens, with media");
}

void HitsDrawTheSame(Context& context) {
  Driver driver(context);
  for (int i = 0; i < 10; ++i) {
    EvictAll(driver);
    Tokens prompt = driver.Prompt(kPrefix);
    const linkw::Sampling sampling = Warm(context.Random(1'000'000));
    const SequenceId sequence = driver.Start(prompt);
    const Tokens plain = driver.Plain(prompt, 16, sampling);
    Publish(driver, sequence, prompt);
    ExpectEq(driver.Plain(prompt, 16, sampling), plain, "a sequence whose prefix is cached");
    const Tokens tail = driver.Prompt(10);
    driver.Run(driver.PrefillLane(sequence, tail));
    prompt.insert(prompt.end(), tail.begin(), tail.end());
    ExpectEq(driver.Plain(prompt, 16, sampling), driver.Draw(sequence, 16, sampling),
             "a sequence whose first part is cached");
    driver.Drop(sequence);
  }
}

void Unpublished(Context& context) {
  Driver driver(context);
  EvictAll(driver);
  const Tokens prompt = driver.Prompt(kPrefix);
  const SequenceId sequence = driver.Start(prompt);
  Publish(driver, sequence, prompt);
  const uint64_t whole = Matched(driver, prompt);
  const Tokens entry(prompt.begin(), prompt.begin() + static_cast<int64_t>(whole));
  driver.Ok<linkw::UnpublishResult>(linkw::Unpublish{driver.Put(entry)});
  Expect(Matched(driver, prompt) < whole, "an unpublished entry is matched");
  driver.Refused(linkw::Unpublish{driver.Put(entry)}, {Status::kNotFound}, "UNPUBLISH again");
  driver.Refused(linkw::Unpublish{driver.Put(driver.Prompt(kPrefix))}, {Status::kNotFound},
                 "UNPUBLISH of what was never published");
}

void Evicted(Context& context) {
  Driver driver(context);
  EvictAll(driver);
  std::vector<Tokens> prompts;
  prompts.reserve(6);
  for (int i = 0; i < 6; ++i) prompts.push_back(PublishedPrompt(driver));
  ExpectEq(Evict(driver, 0), uint64_t{0}, "bytes freed for a target of 0");
  const uint64_t some = Evict(driver, 1);
  Expect(some >= 1, "nothing was freed for a target of one byte");
  const uint64_t bounded = Evict(driver, some * 100, some);
  Expect(bounded <= some, absl::StrCat("freed ", bounded, " bytes with max_evict_bytes ", some));
  EvictAll(driver);
  for (const Tokens& prompt : prompts) {
    ExpectEq(Matched(driver, prompt), uint64_t{0}, "what is left when all is evicted");
  }
}

void NoClassMayGo(Context& context) {
  Driver driver(context);
  EvictAll(driver);
  const Tokens prompt = PublishedPrompt(driver);
  const uint64_t whole = Matched(driver, prompt);
  const auto freed = driver.Ok<linkw::CacheEvictResult>(
      linkw::CacheEvict{.bytes_target = uint64_t{1} << 40, .policy = {.evictable_classes = 0}});
  ExpectEq(freed.bytes_freed, uint64_t{0}, "bytes freed when no class may go");
  const auto protected_freed = driver.Ok<linkw::CacheEvictResult>(linkw::CacheEvict{
      .bytes_target = uint64_t{1} << 40,
      .policy = {.evictable_classes = ~0u, .protected_quota_bytes = uint64_t{1} << 50}});
  ExpectEq(protected_freed.bytes_freed, uint64_t{0}, "bytes freed of a protected cache");
  ExpectEq(Matched(driver, prompt), whole, "the prefix");
}

void EntriesByKey(Context& context) {
  Driver driver(context);
  EvictAll(driver);
  const Tokens kept = PublishedPrompt(driver);
  const uint64_t whole = Matched(driver, kept);
  linkw::CacheEvictEntries entries;
  for (int i = 0; i < 100; ++i) {
    linkw::CacheKey key;
    key.provenance_digest[0] = static_cast<uint8_t>(i);
    entries.keys.push_back(key);
  }
  driver.Ok<linkw::CacheEvictEntriesResult>(entries);
  driver.Ok<linkw::CacheEvictEntriesResult>(linkw::CacheEvictEntries{});
  ExpectEq(Matched(driver, kept), whole, "a prefix after 100 unknown keys");
}

// The keys of an entry are in the envelopes of its state.
void EntriesByTheKeysOfAnExport(Context& context) {
  Driver driver(context);
  EvictAll(driver);
  const Tokens prompt = driver.Prompt(kPrefix);
  const SequenceId sequence = driver.Start(prompt);
  Publish(driver, sequence, prompt);
  const uint64_t whole = Matched(driver, prompt);
  linkw::CacheEvictEntries entries;
  for (const linkw::StateSpaceDescriptor& space : driver.spaces()) {
    const Link::Buffer buffer = SnapshotInto(driver, sequence, space.space_id,
                                             BoundaryOf(driver, sequence, space.space_id, whole));
    linkw::CacheKey key{.compat_key = space.compat_key};
    std::copy_n(reinterpret_cast<const uint8_t*>(buffer.segment.data()) + EnvelopeView::kProvenance,
                32, key.provenance_digest.begin());
    entries.keys.push_back(key);
  }
  driver.Ok<linkw::CacheEvictEntriesResult>(entries);
  Expect(Matched(driver, prompt) < whole, "an entry is there although its keys were evicted");
}

void OutlivesTheLink(Context& context, bool link_error) {
  Tokens prompt;
  uint64_t whole = 0;
  {
    Driver driver(context);
    EvictAll(driver);
    prompt = PublishedPrompt(driver);
    whole = Matched(driver, prompt);
    if (link_error) {
      driver.peer().SendBytes(std::string(32, 'x'));
      driver.ExpectLinkError({Status::kProtocolError});
    }
  }
  Driver driver(context);
  ExpectEq(Matched(driver, prompt), whole, "the prefix, on the next link");
}

}  // namespace

void AddCacheChecks(std::vector<Check>& checks) {
  checks.push_back(
      {"CACHE-1 CACHE-3", "what is published is matched", PublishedIsMatched, Calls()});
  checks.push_back({"CACHE-2 ERR-1", "what cannot be published", WrongPublishing, Calls()});
  checks.push_back({"CACHE-15 TICK-5 TICK-6", "spans that will not do", WrongSpans, Calls()});
  checks.push_back({"CACHE-4", "media is part of the key", MediaIsPartOfTheKey, Calls()});
  checks.push_back(
      {"CACHE-9 DRAW-2", "a prefix hit draws the same", HitsDrawTheSame, Calls(), Pace::kAny, 40});
  checks.push_back({"CACHE-11", "what is unpublished is gone", Unpublished, Calls()});
  checks.push_back({"CACHE-12", "evictions", Evicted, Calls()});
  checks.push_back({"CACHE-12", "evictions that nothing allows", NoClassMayGo, Calls()});
  checks.push_back({"CACHE-13", "unknown keys", EntriesByKey, Calls({"cache_evict_entries"})});
  checks.push_back(
      {"CACHE-13 ENV-1", "the keys of an export", EntriesByTheKeysOfAnExport,
       Calls({"cache_evict_entries", "state_ops", "export_size", "snapshot_boundary"})});
  checks.push_back({"CACHE-14 END-2", "the cache outlives its link",
                    [](Context& c) { OutlivesTheLink(c, false); }, Calls()});
  checks.push_back({"CACHE-14 ERR-3", "the cache outlives a link error",
                    [](Context& c) { OutlivesTheLink(c, true); }, Calls()});
}

}  // namespace superfluid::conformance
