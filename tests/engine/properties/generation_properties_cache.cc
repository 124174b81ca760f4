// The properties of the prefix cache.

#include <cstdint>
#include <string>

#include "tests/engine/properties/generation_properties.h"

namespace superfluid::testing {
namespace {

absl::Status Differs(absl::string_view what) { return absl::InternalError(std::string(what)); }

}  // namespace

absl::StatusOr<GenerationProperties::Cached> GenerationProperties::CachedCase(CaseRandom& random,
                                                                              bool adopt,
                                                                              SeedHandle& seed) {
  Case plain;
  plain.script = RandomScript(random);
  while (plain.script.prompt.size() < limits_.block_tokens) {
    plain.script.prompt.push_back(static_cast<Token>(random.In(0, limits_.vocab - 1)));
  }
  const auto source = driver_.Plain(plain.script);
  if (!source.ok()) return source.status();
  plain.drawn = source->tokens;
  const std::vector<Token> tokens = plain.tokens();
  Cached cached;
  cached.script = RandomScript(random);
  const uint64_t same = random.In(limits_.block_tokens, tokens.size());
  cached.script.prompt.insert(cached.script.prompt.begin(), tokens.begin(),
                              tokens.begin() + static_cast<ptrdiff_t>(same));
  const auto expected = driver_.Plain(cached.script);
  if (!expected.ok()) return expected.status();
  cached.expected = expected->tokens;
  if (absl::Status status = driver_.Free(expected->sequence); !status.ok()) return status;
  cached.published.assign(
      tokens.begin(), tokens.begin() + static_cast<ptrdiff_t>(random.In(
                                           limits_.block_tokens, adopt ? same : tokens.size())));
  Generation& generation = driver_.generation();
  if (adopt) {
    const auto adopted = generation.AdoptSequence(source->sequence, cached.published, {});
    if (!adopted.ok()) return adopted.status();
    seed = *adopted;
  } else {
    absl::Status status = generation.PublishSequence(source->sequence, cached.published, {});
    if (!status.ok()) return status;
  }
  if (absl::Status status = driver_.Free(source->sequence); !status.ok()) return status;
  return cached;
}

absl::Status GenerationProperties::PrefixHitEqualsPlain(CaseRandom& random) {
  SeedHandle none{};
  const auto cached = CachedCase(random, /*adopt=*/false, none);
  if (!cached.ok()) return cached.status();
  Generation& generation = driver_.generation();
  const auto match = generation.Match(cached->script.prompt, {});
  if (!match.ok()) return match.status();
  for (const SpaceMatch& space : *match) {
    if (space.matched_tokens < limits_.block_tokens) return Differs("nothing matches");
  }
  const auto result = driver_.Plain(cached->script);
  if (!result.ok()) return result.status();
  absl::Status status = SameTokens(result->tokens, cached->expected);
  status.Update(generation.Unpublish(cached->published));
  status.Update(driver_.Free(result->sequence));
  return status;
}

absl::Status GenerationProperties::AdoptedEqualsPlain(CaseRandom& random) {
  SeedHandle seed{};
  const auto cached = CachedCase(random, /*adopt=*/true, seed);
  if (!cached.ok()) return cached.status();
  Generation& generation = driver_.generation();
  // Leased state stays even when its entry is forgotten or everything is evicted.
  if (random.Chance(30)) {
    if (absl::Status status = generation.Unpublish(cached->published); !status.ok()) return status;
  }
  const auto freed = generation.EvictCache(UINT64_MAX, {UINT32_MAX, 0, 0});
  if (!freed.ok()) return freed.status();
  const auto result = driver_.Plain(cached->script);
  if (!result.ok()) return result.status();
  absl::Status status = SameTokens(result->tokens, cached->expected);
  if (!absl::IsNotFound(generation.ReleaseSeed(seed))) status.Update(Differs("not adopted"));
  status.Update(driver_.Free(result->sequence));
  const absl::Status again = generation.Unpublish(cached->published);
  if (!absl::IsNotFound(again)) status.Update(again);
  return status;
}

}  // namespace superfluid::testing
