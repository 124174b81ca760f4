#ifndef SUPERFLUID_PROTOCOL_MESSAGES_CACHE_CALLS_H_
#define SUPERFLUID_PROTOCOL_MESSAGES_CACHE_CALLS_H_

#include <cstdint>
#include <vector>

#include "protocol/messages/ids.h"
#include "protocol/messages/token_span.h"

// State sync calls about the prefix cache: making room, and moving sequences into and out of it.
namespace superfluid::linkw {

struct EvictPolicy {
  uint32_t evictable_classes = 0;  // a bit per cache class
  uint64_t protected_quota_bytes = 0;
  uint64_t max_evict_bytes = 0;
  bool operator==(const EvictPolicy&) const = default;
};
struct CacheEvict {
  uint64_t bytes_target = 0;
  EvictPolicy policy;
  bool operator==(const CacheEvict&) const = default;
};
struct CacheEvictResult {
  uint64_t bytes_freed = 0;
  bool operator==(const CacheEvictResult&) const = default;
};

struct CacheKey {
  Hash compat_key{};
  Hash provenance_digest{};
  bool operator==(const CacheKey&) const = default;
};
struct CacheEvictEntries {
  std::vector<CacheKey> keys;
  bool operator==(const CacheEvictEntries&) const = default;
};
struct CacheEvictEntriesResult {
  bool operator==(const CacheEvictEntriesResult&) const = default;
};

struct AdoptSequence {
  SequenceId sequence{};
  TokenSpan span;
  bool operator==(const AdoptSequence&) const = default;
};
struct AdoptSequenceResult {
  SeedHandle seed_handle{};
  bool operator==(const AdoptSequenceResult&) const = default;
};

struct PublishSequence {
  SequenceId sequence{};
  TokenSpan span;
  bool operator==(const PublishSequence&) const = default;
};
struct PublishSequenceResult {
  bool operator==(const PublishSequenceResult&) const = default;
};

struct Unpublish {
  TokenSpan span;
  bool operator==(const Unpublish&) const = default;
};
struct UnpublishResult {
  bool operator==(const UnpublishResult&) const = default;
};

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_PROTOCOL_MESSAGES_CACHE_CALLS_H_
