#ifndef SUPERFLUID_PROTOCOL_MESSAGES_VERSION_H_
#define SUPERFLUID_PROTOCOL_MESSAGES_VERSION_H_

#include <cstdint>

#include "absl/status/statusor.h"

namespace superfluid::linkw {

// The version that this code speaks, and the one on every frame until another is negotiated.
inline constexpr uint16_t kProtoVersion = 8;

// Inclusive on both ends.
struct VersionRange {
  uint16_t min = kProtoVersion;
  uint16_t max = kProtoVersion;
  bool operator==(const VersionRange&) const = default;
};

// The highest version in both ranges. Errors: kInvalidArgument if a range is empty (min > max) or
// starts at 0; kVersionMismatch, naming both ranges, if they have nothing in common.
absl::StatusOr<uint16_t> Negotiate(VersionRange client, VersionRange ours = {});

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_PROTOCOL_MESSAGES_VERSION_H_
