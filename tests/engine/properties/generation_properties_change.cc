// The properties of what is interrupted: the adapter is another one meanwhile, or work is
// cancelled.

#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "engine/call_control.h"
#include "engine/cancel_token.h"
#include "tests/engine/properties/generation_properties.h"

namespace superfluid::testing {
namespace {

absl::Status Differs(absl::string_view what) { return absl::InternalError(std::string(what)); }

// Cancels the tick when it is asked about its lane for the n-th time.
class CancellingHost : public QuietHost {
 public:
  CancellingHost(CancelToken& token, uint64_t looks) : token_(token), looks_(looks) {}
  bool LaneStopped(size_t /*lane*/) override {
    if (--looks_ == 0) token_.Cancel(CancelReason::kRequested, 1);
    return false;
  }

 private:
  CancelToken& token_;
  uint64_t looks_;
};

absl::Status UseAdapter(Generation& generation, const std::string& path) {
  if (path.empty()) return generation.UnloadAdapter();
  return generation.LoadAdapter(path, {}).status();
}

absl::StatusOr<uint64_t> MatchedTokens(Generation& generation, absl::Span<const Token> tokens) {
  const auto match = generation.Match(tokens, {});
  if (!match.ok()) return match.status();
  uint64_t matched = UINT64_MAX;
  for (const SpaceMatch& space : *match) matched = std::min(matched, space.matched_tokens);
  return matched;
}

}  // namespace

// The script on a new sequence draws what it should, and finds so much of its tokens in the cache.
absl::Status GenerationProperties::DrawsWithCached(const Script& script,
                                                   absl::Span<const Token> expected,
                                                   absl::Span<const Token> tokens,
                                                   uint64_t cached) {
  const auto matched = MatchedTokens(driver_.generation(), tokens);
  if (!matched.ok()) return matched.status();
  if (*matched != cached) {
    return Differs(absl::StrCat(*matched, " tokens are cached instead of ", cached));
  }
  const auto result = driver_.Plain(script);
  if (!result.ok()) return result.status();
  absl::Status status = SameTokens(result->tokens, expected);
  status.Update(driver_.Free(result->sequence));
  return status;
}

absl::Status GenerationProperties::SwappedAdapterEqualsPlain(CaseRandom& random) {
  Generation& generation = driver_.generation();
  const size_t first = random.In(0, limits_.adapters.size() - 1);
  const size_t step = random.In(1, limits_.adapters.size() - 1);
  const std::string& own = limits_.adapters[first];
  const std::string& other = limits_.adapters[(first + step) % limits_.adapters.size()];

  if (absl::Status status = UseAdapter(generation, own); !status.ok()) return status;
  const auto plain = PlainCase(random);
  if (!plain.ok()) return plain.status();
  const std::vector<Token> all = plain->tokens();
  const uint64_t position = random.In(1, plain->length());
  const auto source = MakeUpTo(*plain, position);
  if (!source.ok()) return source.status();

  if (absl::Status status = UseAdapter(generation, other); !status.ok()) return status;
  const auto under_other = driver_.Plain(plain->script);
  if (!under_other.ok()) return under_other.status();
  absl::Status status = driver_.Free(under_other->sequence);
  status.Update(RefusesLane(*plain, *source));
  // The state of the last token may not be there, and cannot be computed now.
  uint64_t cached = 0;
  if (position >= limits_.block_tokens) {
    cached = random.In(limits_.block_tokens, position);
    cached -= cached % limits_.block_tokens;
    const absl::Status published =
        generation.PublishSequence(*source, absl::MakeConstSpan(all).first(cached), {});
    if (!published.ok()) cached = 0;
    if (!published.ok() && !absl::IsFailedPrecondition(published)) status.Update(published);
  }
  status.Update(DrawsWithCached(plain->script, under_other->tokens, all, 0));
  const auto end = driver_.CommonBoundary(*source, random.In(1, position));
  if (!end.ok()) return end.status();
  const auto images = driver_.Snapshot(*source, *end, random.In(0, 63));
  if (!images.ok()) return images.status();

  status.Update(UseAdapter(generation, own));
  status.Update(DrawsWithCached(plain->script, plain->drawn, all, cached));
  if (*end > 0) {
    const auto restored = driver_.Restore(*images);
    if (!restored.ok()) return restored.status();
    status.Update(ContinueAndFree(*plain, *restored, *end));
  }
  if (cached > 0) status.Update(generation.Unpublish(absl::MakeConstSpan(all).first(cached)));
  status.Update(driver_.Free(*source));
  status.Update(generation.UnloadAdapter());
  return status;
}

absl::Status GenerationProperties::CancelledEqualsPlain(CaseRandom& random) {
  const auto plain = PlainCase(random);
  if (!plain.ok()) return plain.status();
  const std::vector<Token> all = plain->tokens();
  Generation& generation = driver_.generation();
  CancelToken token;
  CancellingHost host(token, random.In(1, plain->script.draws + 2));
  const LaneWork work =
      driver_.LaneFor(plain->script, {}, plain->script.prompt, plain->script.draws);
  Tick tick;
  tick.lanes = absl::MakeConstSpan(&work, 1);
  const auto results = generation.RunTick(tick, token, host);
  if (!results.ok()) return results.status();
  const LaneResult& result = results->front();
  if (!result.status.ok()) return result.status;
  if (result.tokens.size() > plain->drawn.size()) return Differs("more came than without a cancel");
  absl::Status status =
      SameTokens(result.tokens, absl::MakeConstSpan(plain->drawn).first(result.tokens.size()));
  const uint64_t position = result.position;
  uint64_t cached = position - position % limits_.block_tokens;
  if (cached > 0) {
    const absl::Span<const Token> tokens = absl::MakeConstSpan(all).first(cached);
    CancelToken stop;
    const CallControl control(stop, [&stop] { stop.Cancel(CancelReason::kRequested, 1); });
    if (!absl::IsCancelled(generation.PublishSequence(result.sequence, tokens, control))) {
      status.Update(Differs("a call that was cancelled went on"));
    }
    status.Update(DrawsWithCached(plain->script, plain->drawn, all, 0));
    status.Update(generation.PublishSequence(result.sequence, tokens, {}));
    status.Update(DrawsWithCached(plain->script, plain->drawn, all, cached));
    status.Update(generation.Unpublish(tokens));
  }
  status.Update(ContinueAndFree(*plain, result.sequence, position));
  return status;
}

}  // namespace superfluid::testing
