#include <vector>

#include "engine/sdk/host_views.h"
#include "engine/sdk/shim_types.h"

// Of the shim: the cache of prefixes.
namespace superfluid::sdk {
namespace {

absl::Span<const Token> TokensOf(const sfl_prefix& prefix) {
  return absl::MakeConstSpan(prefix.tokens, prefix.token_count);
}

absl::Span<const uint64_t> MediaOf(const sfl_prefix& prefix) {
  return absl::MakeConstSpan(prefix.media_deps, prefix.media_dep_count);
}

sfl_status Match(sfl_engine* engine, const sfl_prefix* host, sfl_list* matches,
                 sfl_error* error) noexcept {
  return WithGeneration(engine, error, [&](Generation& generation) -> absl::Status {
    const sfl_prefix prefix = CopyIn(host);
    const auto found = generation.Match(TokensOf(prefix), MediaOf(prefix));
    if (!found.ok()) return found.status();
    FillList<sfl_space_match>(*found, *matches, [](const SpaceMatch& match, sfl_space_match& raw) {
      raw.space = static_cast<uint32_t>(match.space);
      raw.matched_tokens = match.matched_tokens;
    });
    return absl::OkStatus();
  });
}

sfl_status AcquireSeed(sfl_engine* engine, const sfl_prefix* host, sfl_lease* lease,
                       sfl_error* error) noexcept {
  return WithGeneration(engine, error, [&](Generation& generation) -> absl::Status {
    const sfl_prefix prefix = CopyIn(host);
    const absl::StatusOr<Lease> granted = generation.AcquireSeed(
        TokensOf(prefix), prefix.prefix_len, prefix.determinism_class, MediaOf(prefix));
    if (!granted.ok()) return granted.status();
    FillIn(lease, [&](sfl_lease& raw) {
      raw.seed = static_cast<uint64_t>(granted->seed);
      raw.ttl_ms = granted->ttl_ms;
      raw.ttl_ticks = granted->ttl_ticks;
    });
    return absl::OkStatus();
  });
}

sfl_status ReleaseSeed(sfl_engine* engine, uint64_t seed, sfl_error* error) noexcept {
  return WithGeneration(engine, error, [&](Generation& generation) {
    return generation.ReleaseSeed(SeedHandle{seed});
  });
}

sfl_status PublishSequence(sfl_engine* engine, uint64_t sequence, const uint32_t* tokens,
                           size_t token_count, const sfl_call* call, sfl_error* error) noexcept {
  return WithGeneration(engine, error, [&](Generation& generation) {
    const HostCall host(*call);
    return generation.PublishSequence(SequenceHandle{sequence},
                                      absl::MakeConstSpan(tokens, token_count), host.control());
  });
}

sfl_status AdoptSequence(sfl_engine* engine, uint64_t sequence, const uint32_t* tokens,
                         size_t token_count, const sfl_call* call, uint64_t* seed,
                         sfl_error* error) noexcept {
  return WithGeneration(engine, error, [&](Generation& generation) {
    const HostCall host(*call);
    return Put(generation.AdoptSequence(SequenceHandle{sequence},
                                        absl::MakeConstSpan(tokens, token_count), host.control()),
               seed);
  });
}

sfl_status Unpublish(sfl_engine* engine, const uint32_t* tokens, size_t token_count,
                     sfl_error* error) noexcept {
  return WithGeneration(engine, error, [&](Generation& generation) {
    return generation.Unpublish(absl::MakeConstSpan(tokens, token_count));
  });
}

sfl_status EvictCache(sfl_engine* engine, uint64_t target, const sfl_evict_policy* host,
                      uint64_t* freed, sfl_error* error) noexcept {
  return WithGeneration(engine, error, [&](Generation& generation) {
    const sfl_evict_policy policy = CopyIn(host);
    return Put(
        generation.EvictCache(target, {policy.classes, policy.protected_bytes, policy.max_bytes}),
        freed);
  });
}

sfl_status EvictEntries(sfl_engine* engine, const sfl_cache_key* keys, size_t key_count,
                        sfl_error* error) noexcept {
  return WithGeneration(engine, error, [&](Generation& generation) {
    std::vector<CacheKey> copied;
    for (size_t i = 0; i < key_count; ++i) {
      copied.push_back({DigestFromHost(keys[i].compat_key), DigestFromHost(keys[i].provenance)});
    }
    return generation.EvictEntries(copied);
  });
}

}  // namespace

void AddCache(sfl_engine_vtable& table) noexcept {
  table.match = &Match;
  table.acquire_seed = &AcquireSeed;
  table.release_seed = &ReleaseSeed;
  table.publish_sequence = &PublishSequence;
  table.adopt_sequence = &AdoptSequence;
  table.unpublish = &Unpublish;
  table.evict_cache = &EvictCache;
  table.evict_entries = &EvictEntries;
}

}  // namespace superfluid::sdk
