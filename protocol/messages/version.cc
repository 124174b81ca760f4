#include "protocol/messages/version.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "protocol/messages/status.h"

namespace superfluid::linkw {
namespace {

std::string ToString(VersionRange range) { return absl::StrCat(range.min, "..", range.max); }

bool IsValid(VersionRange range) { return range.min > 0 && range.min <= range.max; }

}  // namespace

absl::StatusOr<uint16_t> Negotiate(VersionRange client, VersionRange ours) {
  if (!IsValid(client) || !IsValid(ours)) {
    return MakeStatus(Status::kInvalidArgument,
                      absl::StrCat("not a range of protocol versions: ",
                                   ToString(IsValid(ours) ? client : ours)));
  }
  const uint16_t highest = std::min(client.max, ours.max);
  if (highest < std::max(client.min, ours.min)) {
    return MakeStatus(Status::kVersionMismatch,
                      absl::StrCat("no common protocol version: the client speaks ",
                                   ToString(client), ", this worker ", ToString(ours)));
  }
  return highest;
}

}  // namespace superfluid::linkw
