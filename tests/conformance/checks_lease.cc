// Leases on cached prefixes.

#include <algorithm>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "tests/conformance/driver.h"
#include "tests/conformance/families.h"

namespace superfluid::conformance {
namespace {

constexpr size_t kPrefix = 128;

std::vector<std::string> Calls(std::vector<std::string> more = {}) {
  more.insert(more.end(), {"tick", "match", "seed", "publish_sequence", "cache_evict"});
  return more;
}

// A published prefix that this check alone knows, and leases on it.
class Prefix {
 public:
  explicit Prefix(Driver& driver) : driver_(driver), prompt_(driver.Prompt(kPrefix)) {
    EvictAll();
    const SequenceId sequence = driver.Start(prompt_);
    driver.Ok<linkw::PublishSequenceResult>(
        linkw::PublishSequence{.sequence = sequence, .span = driver.Put(prompt_)});
    driver.Drop(sequence);
    // NOLINTNEXTLINE(cppcoreguidelines-prefer-member-initializer): needs what is above
    length_ = Matched();
    Expect(length_ > 0, "a published prefix is not matched");
  }

  linkw::SeedGrant TryAcquire(uint64_t length) {
    return driver_.peer().Await<linkw::SeedGrant>(
        driver_.Send(linkw::SeedAcquire{.span = driver_.Put(prompt_), .prefix_len = length}));
  }
  linkw::SeedGrant Acquire() {
    linkw::SeedGrant grant = TryAcquire(length_);
    if (grant.status != Status::kOk) {
      Fail(absl::StrCat("SEED_ACQUIRE: ", Show(grant.status), " ", Show(grant.message)));
    }
    Expect(grant.seed_handle != linkw::SeedHandle{}, "the seed handle 0");
    return grant;
  }
  uint64_t Matched() {
    const auto result = driver_.peer().Await<linkw::MatchResult>(
        driver_.Send(linkw::MatchRequest{.span = driver_.Put(prompt_)}));
    uint64_t least = prompt_.size();
    for (const linkw::SpaceMatch& match : result.spaces) {
      least = std::min(least, match.matched_tokens);
    }
    return least;
  }
  void EvictAll() {
    driver_.Ok<linkw::CacheEvictResult>(
        linkw::CacheEvict{.bytes_target = uint64_t{1} << 62, .policy = {.evictable_classes = ~0u}});
  }
  void ExpectPinned(std::string_view what) {
    EvictAll();
    ExpectEq(Matched(), length_, what);
  }
  void ExpectEvictable(std::string_view what) {
    EvictAll();
    Expect(Matched() < length_, absl::StrCat(View(what), ": it is still there"));
  }
  const Tokens& prompt() const { return prompt_; }
  uint64_t length() const { return length_; }

 private:
  Driver& driver_;
  Tokens prompt_;
  uint64_t length_ = 0;
};

void LeasePins(Context& context) {
  Driver driver(context);
  Prefix prefix(driver);
  const linkw::SeedGrant grant = prefix.Acquire();
  Expect(grant.ttl_ms > 0 && grant.ttl_ticks > 0, "a lease that never was valid");
  prefix.ExpectPinned("a leased prefix");
  driver.Send(linkw::SeedRelease{grant.seed_handle});
  prefix.ExpectEvictable("a released prefix");
}

void TwoLeases(Context& context) {
  Driver driver(context);
  Prefix prefix(driver);
  const linkw::SeedGrant first = prefix.Acquire();
  const linkw::SeedGrant second = prefix.Acquire();
  Expect(first.seed_handle != second.seed_handle, "two leases have the same handle");
  driver.Send(linkw::SeedRelease{first.seed_handle});
  driver.Send(linkw::SeedRelease{first.seed_handle});
  prefix.ExpectPinned("a prefix with one of two leases released, twice");
  driver.Send(linkw::SeedRelease{second.seed_handle});
  prefix.ExpectEvictable("a prefix with both leases released");
}

void NotCached(Context& context) {
  Driver driver(context);
  Prefix prefix(driver);
  const auto refused = [&driver, &prefix](uint64_t length, Statuses statuses,
                                          std::string_view what) {
    const linkw::SeedGrant grant = prefix.TryAcquire(length);
    const bool as_told =
        std::find(statuses.begin(), statuses.end(), grant.status) != statuses.end();
    Expect(as_told, absl::StrCat(View(what), ": ", Show(grant.status), " ", Show(grant.message)));
    driver.Ping();
  };
  refused(kPrefix + 1, {Status::kInvalidArgument, Status::kNotFound}, "more than the span has");
  refused(~uint64_t{0}, {Status::kInvalidArgument, Status::kNotFound}, "a prefix of 2^64 - 1");
  prefix.EvictAll();
  refused(prefix.length(), {Status::kNotFound}, "a prefix that was evicted");
}

void ReleaseIsIdempotent(Context& context) {
  Driver driver(context);
  Prefix prefix(driver);
  const linkw::SeedGrant grant = prefix.Acquire();
  for (const linkw::SeedHandle handle :
       {grant.seed_handle, grant.seed_handle, linkw::SeedHandle{}, linkw::SeedHandle(987654321)}) {
    driver.ExpectSilent(driver.Send(linkw::SeedRelease{handle}), "SEED_RELEASE");
  }
}

void ExpiresByTicks(Context& context) {
  Driver driver(context);
  Prefix prefix(driver);
  const linkw::SeedGrant grant = prefix.Acquire();
  if (grant.ttl_ticks > 5000) Skip(absl::StrCat("leases last ", grant.ttl_ticks, " ticks"));
  const SequenceId other = driver.Start(driver.Prompt(2));
  const Tokens one = driver.Prompt(1);
  for (uint64_t i = 0; i <= grant.ttl_ticks; ++i) driver.Run(driver.PrefillLane(other, one));
  prefix.ExpectEvictable("a prefix whose lease has expired by ticks");
  driver.ExpectSilent(driver.Send(linkw::SeedRelease{grant.seed_handle}), "SEED_RELEASE");
}

void ExpiresByTime(Context& context) {
  Driver driver(context);
  Prefix prefix(driver);
  const linkw::SeedGrant grant = prefix.Acquire();
  if (grant.ttl_ms > 15'000) Skip(absl::StrCat("leases last ", grant.ttl_ms, " ms"));
  context.Pause(absl::Milliseconds(grant.ttl_ms + 200));
  prefix.ExpectEvictable("a prefix whose lease has expired by time");
}

void AdoptedByALane(Context& context) {
  Driver driver(context);
  Prefix prefix(driver);
  const linkw::Sampling sampling = Warm(11);
  const Tokens plain = driver.Plain(prefix.prompt(), 12, sampling);
  prefix.Acquire();
  const LaneEvent event = driver.Run(driver.DecodeLane(kNew, prefix.prompt(), 12, sampling));
  ExpectEq(driver.Out(event), plain, "a lane that starts with a leased prefix");
  driver.Drop(event.sequence);
  prefix.ExpectEvictable("a prefix whose lease was taken over");
}

void AdoptSequence(Context& context) {
  Driver driver(context);
  Prefix other(driver);  // clears the cache
  const Tokens prompt = driver.Prompt(kPrefix);
  const linkw::Sampling sampling = Warm(12);
  const Tokens plain = driver.Plain(prompt, 12, sampling);
  const SequenceId sequence = driver.Start(prompt);
  const auto seed = driver
                        .Ok<linkw::AdoptSequenceResult>(
                            linkw::AdoptSequence{.sequence = sequence, .span = driver.Put(prompt)})
                        .seed_handle;
  Expect(seed != linkw::SeedHandle{}, "the seed handle 0");
  driver.Drop(sequence);
  other.EvictAll();
  const auto matched = driver.peer().Await<linkw::MatchResult>(
      driver.Send(linkw::MatchRequest{.span = driver.Put(prompt)}));
  Expect(!matched.spaces.empty() && matched.spaces[0].matched_tokens > 0,
         "an adopted sequence's prefix is not there after an eviction");
  ExpectEq(driver.Plain(prompt, 12, sampling), plain, "a lane that starts with it");
  driver.ExpectSilent(driver.Send(linkw::SeedRelease{seed}), "SEED_RELEASE");
}

void LeaseEndsWithItsLink(Context& context) {
  Tokens prompt;
  {
    Driver driver(context);
    Prefix prefix(driver);
    prefix.Acquire();
    prompt = prefix.prompt();
  }
  Driver driver(context);
  driver.Ok<linkw::CacheEvictResult>(
      linkw::CacheEvict{.bytes_target = uint64_t{1} << 62, .policy = {.evictable_classes = ~0u}});
  const auto matched = driver.peer().Await<linkw::MatchResult>(
      driver.Send(linkw::MatchRequest{.span = driver.Put(prompt)}));
  for (const linkw::SpaceMatch& match : matched.spaces) {
    ExpectEq(match.matched_tokens, uint64_t{0}, "a prefix leased by a link that has ended");
  }
}

}  // namespace

void AddLeaseChecks(std::vector<Check>& checks) {
  checks.push_back({"CACHE-5 CACHE-6", "a lease pins", LeasePins, Calls()});
  checks.push_back({"CACHE-6 CACHE-7", "two leases on one prefix", TwoLeases, Calls()});
  checks.push_back({"CACHE-5 ERR-1", "what is not cached", NotCached, Calls()});
  checks.push_back({"CACHE-7", "SEED_RELEASE twice, of nothing", ReleaseIsIdempotent, Calls()});
  checks.push_back(
      {"CACHE-8", "a lease expires by ticks", ExpiresByTicks, Calls(), Pace::kAny, 60});
  checks.push_back({"CACHE-8", "a lease expires by time", ExpiresByTime, Calls()});
  checks.push_back(
      {"CACHE-9 CACHE-6 DRAW-2", "a lease taken over by a lane", AdoptedByALane, Calls()});
  checks.push_back({"CACHE-10", "ADOPT_SEQUENCE", AdoptSequence, Calls({"adopt_sequence"})});
  checks.push_back({"END-1 CACHE-6", "leases end with their link", LeaseEndsWithItsLink, Calls()});
}

}  // namespace superfluid::conformance
