#include "engine/cache/prefix_leases.h"

#include "absl/strings/str_cat.h"

namespace superfluid {

absl::StatusOr<Lease> PrefixLeases::Acquire(CacheNode node, Moment now) {
  if (leases_.size() >= limits_.leases) {
    return absl::ResourceExhaustedError(absl::StrCat("there are ", limits_.leases, " leases"));
  }
  const auto seed = handles_.Next<SeedHandle>();
  const absl::Duration ttl = absl::Milliseconds(limits_.ttl_ms);
  leases_.emplace(seed, Held{node, now.time + ttl, now.tick + limits_.ttl_ticks});
  cache_.Pin(node);
  return Lease{seed, limits_.ttl_ms, limits_.ttl_ticks};
}

absl::Status PrefixLeases::Release(SeedHandle seed) {
  const auto found = leases_.find(seed);
  if (found == leases_.end()) {
    return absl::NotFoundError(absl::StrCat("no lease ", static_cast<uint64_t>(seed)));
  }
  const CacheNode node = found->second.node;
  leases_.erase(found);
  cache_.Unpin(node);
  return absl::OkStatus();
}

void PrefixLeases::Expire(Moment now) {
  for (auto it = leases_.begin(); it != leases_.end();) {
    const Held held = it->second;
    if (now.time < held.expires && now.tick < held.expires_at_tick) {
      ++it;
      continue;
    }
    it = leases_.erase(it);
    cache_.Unpin(held.node);
  }
}

void PrefixLeases::Clear() {
  while (!leases_.empty()) {
    const CacheNode node = leases_.begin()->second.node;
    leases_.erase(leases_.begin());
    cache_.Unpin(node);
  }
}

CacheNode PrefixLeases::Longest(const PrefixCache::Prefix& prefix) const {
  CacheNode longest{};
  for (const auto& [seed, held] : leases_) {
    if (cache_.EndOf(held.node) <= cache_.EndOf(longest)) continue;
    if (cache_.IsPrefix(held.node, prefix)) longest = held.node;
  }
  return longest;
}

void PrefixLeases::Adopt(CacheNode node) {
  for (const auto& [seed, held] : leases_) {
    if (held.node != node) continue;
    leases_.erase(seed);
    cache_.Unpin(node);
    return;
  }
}

}  // namespace superfluid
