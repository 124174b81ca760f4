#ifndef SUPERFLUID_PROTOCOL_MESSAGES_CACHE_MESSAGES_H_
#define SUPERFLUID_PROTOCOL_MESSAGES_CACHE_MESSAGES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "protocol/messages/ids.h"
#include "protocol/messages/status.h"
#include "protocol/messages/token_span.h"

// The messages about cached prefixes: what is there, and leases on it.
namespace superfluid::linkw {

struct MatchRequest {
  TokenSpan span;
  std::vector<uint64_t> media_deps;  // fingerprints; part of the key
  bool operator==(const MatchRequest&) const = default;
};

struct SpaceMatch {
  SpaceId space_id{};
  uint64_t matched_tokens = 0;
  bool operator==(const SpaceMatch&) const = default;
};

struct MatchResult {
  Status status = Status::kOk;
  std::string message;
  std::vector<SpaceMatch> spaces;
  bool operator==(const MatchResult&) const = default;
};

struct SeedAcquire {
  TokenSpan span;
  uint64_t prefix_len = 0;
  uint32_t determinism_class = 0;
  std::vector<uint64_t> media_deps;
  bool operator==(const SeedAcquire&) const = default;
};

struct SeedGrant {
  Status status = Status::kOk;
  std::string message;
  SeedHandle seed_handle{};
  uint64_t ttl_ms = 0;
  uint64_t ttl_ticks = 0;
  bool operator==(const SeedGrant&) const = default;
};

// Idempotent; no reply.
struct SeedRelease {
  SeedHandle seed_handle{};
  bool operator==(const SeedRelease&) const = default;
};

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_PROTOCOL_MESSAGES_CACHE_MESSAGES_H_
