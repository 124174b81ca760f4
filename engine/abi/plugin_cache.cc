#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/abi/plugin_generation.h"
#include "engine/abi/state_spaces.h"

// Of PluginGeneration: the cache of prefixes.
namespace superfluid {
namespace {

sfl_prefix PrefixOf(absl::Span<const Token> tokens, absl::Span<const uint64_t> media_deps) {
  sfl_prefix prefix = {};
  prefix.struct_size = sizeof prefix;
  prefix.tokens = tokens.data();
  prefix.token_count = tokens.size();
  prefix.media_deps = media_deps.data();
  prefix.media_dep_count = media_deps.size();
  return prefix;
}

}  // namespace

absl::StatusOr<std::vector<SpaceMatch>> PluginGeneration::Match(
    absl::Span<const Token> tokens, absl::Span<const uint64_t> media_deps) {
  CheckThread("match");
  if (functions().match == nullptr) return Generation::Match(tokens, media_deps);
  absl::Status status = CheckTokens(tokens);
  if (!status.ok()) return status;
  const sfl_prefix prefix = PrefixOf(tokens, media_deps);
  GuardedList<sfl_space_match> list(SFL_MAX_STATE_SPACES);
  sfl_list raw = list.abi();
  status = InPlugin("match", [&](sfl_error* error) {
    return functions().match(plugin_.engine, &prefix, &raw, error);
  });
  if (!list.intact()) return WrotePastTheEnd("match");
  if (!status.ok()) return status;
  if (raw.count > list.capacity()) {
    return BrokenRule("match", "answered for ", raw.count, " spaces; the limit is ",
                      list.capacity());
  }
  std::vector<SpaceMatch> matches;
  std::set<uint32_t> spaces;
  for (const sfl_space_match& match : list.Take(raw.count)) {
    if (match.matched_tokens > tokens.size()) {
      return BrokenRule("match", "matched ", match.matched_tokens, " of ", tokens.size(),
                        " tokens");
    }
    if (!spaces.insert(match.space).second) {
      return BrokenRule("match", "answered twice for space ", match.space);
    }
    matches.push_back({SpaceId{match.space}, match.matched_tokens});
  }
  return matches;
}

absl::StatusOr<Lease> PluginGeneration::AcquireSeed(absl::Span<const Token> tokens,
                                                    uint64_t prefix_len, uint32_t determinism_class,
                                                    absl::Span<const uint64_t> media_deps) {
  CheckThread("acquire_seed");
  if (functions().acquire_seed == nullptr) {
    return Generation::AcquireSeed(tokens, prefix_len, determinism_class, media_deps);
  }
  if (prefix_len > tokens.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("a lease on ", prefix_len, " of ", tokens.size(), " tokens"));
  }
  absl::Status status = CheckTokens(tokens);
  if (!status.ok()) return status;
  sfl_prefix prefix = PrefixOf(tokens, media_deps);
  prefix.prefix_len = prefix_len;
  prefix.determinism_class = determinism_class;
  GuardedValue<sfl_lease> lease;
  status = InPlugin("acquire_seed", [&](sfl_error* error) {
    return functions().acquire_seed(plugin_.engine, &prefix, lease.get(), error);
  });
  if (!lease.intact()) return WrotePastTheEnd("acquire_seed");
  if (!status.ok()) return status;
  const sfl_lease raw = lease.value();
  if (status = seeds_.Add("acquire_seed", raw.seed); !status.ok()) return status;
  seeds_.Remove(raw.seed);
  return Lease{SeedHandle{raw.seed}, raw.ttl_ms, raw.ttl_ticks};
}

absl::Status PluginGeneration::ReleaseSeed(SeedHandle seed) {
  CheckThread("release_seed");
  if (functions().release_seed == nullptr) return Generation::ReleaseSeed(seed);
  return InPlugin("release_seed", [&](sfl_error* error) {
    return functions().release_seed(plugin_.engine, static_cast<uint64_t>(seed), error);
  });
}

absl::Status PluginGeneration::PublishSequence(SequenceHandle sequence,
                                               absl::Span<const Token> tokens,
                                               const CallControl& control) {
  CheckThread("publish_sequence");
  if (functions().publish_sequence == nullptr) {
    return Generation::PublishSequence(sequence, tokens, control);
  }
  absl::Status status = CheckSequenceAndTokens(sequence, tokens);
  if (!status.ok()) return status;
  const OpenCall open(call_port_, control);
  status = InPlugin("publish_sequence", [&](sfl_error* error) {
    return functions().publish_sequence(plugin_.engine, static_cast<uint64_t>(sequence),
                                        tokens.data(), tokens.size(), open.abi(), error);
  });
  return CheckCancelled("publish_sequence", std::move(status), control);
}

absl::StatusOr<SeedHandle> PluginGeneration::AdoptSequence(SequenceHandle sequence,
                                                           absl::Span<const Token> tokens,
                                                           const CallControl& control) {
  CheckThread("adopt_sequence");
  if (functions().adopt_sequence == nullptr)
    return Generation::AdoptSequence(sequence, tokens, control);
  absl::Status status = CheckSequenceAndTokens(sequence, tokens);
  if (!status.ok()) return status;
  const OpenCall open(call_port_, control);
  const absl::StatusOr<uint64_t> seed =
      Made("adopt_sequence", seeds_, [&](uint64_t* made, sfl_error* error) {
        return functions().adopt_sequence(plugin_.engine, static_cast<uint64_t>(sequence),
                                          tokens.data(), tokens.size(), open.abi(), made, error);
      });
  if (!seed.ok()) return CheckCancelled("adopt_sequence", seed.status(), control);
  seeds_.Remove(*seed);
  return SeedHandle{*seed};
}

absl::Status PluginGeneration::Unpublish(absl::Span<const Token> tokens) {
  CheckThread("unpublish");
  if (functions().unpublish == nullptr) return Generation::Unpublish(tokens);
  if (absl::Status status = CheckTokens(tokens); !status.ok()) return status;
  return InPlugin("unpublish", [&](sfl_error* error) {
    return functions().unpublish(plugin_.engine, tokens.data(), tokens.size(), error);
  });
}

absl::StatusOr<uint64_t> PluginGeneration::EvictCache(uint64_t target, const EvictPolicy& policy) {
  CheckThread("evict_cache");
  if (functions().evict_cache == nullptr) return Generation::EvictCache(target, policy);
  const sfl_evict_policy raw = {sizeof(sfl_evict_policy), policy.classes, policy.protected_bytes,
                                policy.max_bytes};
  return Number("evict_cache", ~uint64_t{0}, [&](uint64_t* freed, sfl_error* error) {
    return functions().evict_cache(plugin_.engine, target, &raw, freed, error);
  });
}

absl::Status PluginGeneration::EvictEntries(absl::Span<const CacheKey> keys) {
  CheckThread("evict_entries");
  if (functions().evict_entries == nullptr) return Generation::EvictEntries(keys);
  std::vector<sfl_cache_key> raw;
  raw.reserve(keys.size());
  for (const CacheKey& key : keys) {
    raw.push_back({DigestToAbi(key.compat_key), DigestToAbi(key.provenance)});
  }
  return InPlugin("evict_entries", [&](sfl_error* error) {
    return functions().evict_entries(plugin_.engine, raw.data(), raw.size(), error);
  });
}

}  // namespace superfluid
