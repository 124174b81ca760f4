#ifndef SUPERFLUID_ENGINE_CACHE_PREFIX_LEASES_H_
#define SUPERFLUID_ENGINE_CACHE_PREFIX_LEASES_H_

#include <cstddef>
#include <cstdint>
#include <map>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "engine/cache/prefix_cache.h"
#include "engine/generation.h"
#include "engine/sampling/handle_source.h"

namespace superfluid {

// The leases on cached prefixes, each of which pins its node. Threads: one.
class PrefixLeases {
 public:
  struct Limits {
    uint64_t ttl_ms = 0;
    uint64_t ttl_ticks = 0;
    size_t leases = 0;
  };
  struct Moment {
    absl::Time time;
    uint64_t tick = 0;
  };

  PrefixLeases(PrefixCache& cache, HandleSource& handles, Limits limits)
      : cache_(cache), handles_(handles), limits_(limits) {}

  // ResourceExhausted: too many.
  absl::StatusOr<Lease> Acquire(CacheNode node, Moment now);
  absl::Status Release(SeedHandle seed);  // NotFound
  // Ends those whose time or ticks are over.
  void Expire(Moment now);
  void Clear();

  // What a new sequence with this first input adopts: the longest leased prefix that the input
  // starts with. 0: none.
  CacheNode Longest(const PrefixCache::Prefix& prefix) const;
  // Ends the oldest lease of this node, which may be gone from the cache then.
  void Adopt(CacheNode node);

  size_t size() const { return leases_.size(); }

 private:
  struct Held {
    CacheNode node{};
    absl::Time expires;
    uint64_t expires_at_tick = 0;
  };

  PrefixCache& cache_;
  HandleSource& handles_;
  const Limits limits_;
  std::map<SeedHandle, Held> leases_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_CACHE_PREFIX_LEASES_H_
