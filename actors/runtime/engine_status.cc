#include "actors/runtime/engine_status.h"

#include "absl/strings/cord.h"
#include "absl/strings/string_view.h"

namespace superfluid {

linkw::Status EngineStatus(const absl::Status& status) {
  bool exact = false;
  status.ForEachPayload([&exact](absl::string_view, const absl::Cord&) { exact = true; });
  if (exact) return linkw::FromAbsl(status);
  switch (status.code()) {
    case absl::StatusCode::kNotFound:
      return linkw::Status::kUnknownHandle;
    case absl::StatusCode::kResourceExhausted:
      return linkw::Status::kOutOfMemory;
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kUnknown:
    case absl::StatusCode::kDataLoss:
    case absl::StatusCode::kAborted:
      return linkw::Status::kEngineFailed;
    default:
      return linkw::FromAbsl(status);
  }
}

absl::Status SystemStatus(const absl::Status& status) {
  if (!absl::IsResourceExhausted(status)) return status;
  return linkw::MakeStatus(linkw::Status::kOutOfMemory, MessageOf(status));
}

absl::Status StoppedStatus(CancelReason reason) {
  switch (reason) {
    case CancelReason::kDeadline:
      return linkw::MakeStatus(linkw::Status::kDeadlineExceeded, "the deadline passed");
    case CancelReason::kDraining:
      return linkw::MakeStatus(linkw::Status::kCancelled, "cancelled: the worker is draining");
    case CancelReason::kLinkClosed:
      return linkw::MakeStatus(linkw::Status::kCancelled, "cancelled: the link was closed");
    default:
      return linkw::MakeStatus(linkw::Status::kCancelled, "cancelled");
  }
}

std::string MessageOf(const absl::Status& status) { return std::string(status.message()); }

linkw::MemCounters ToWire(const MemoryCounters& memory) {
  return {.allocated_bytes = memory.allocated_bytes,
          .host_retained_bytes = memory.host_retained_bytes,
          .pool_blocks_total = memory.pool_blocks_total,
          .pool_blocks_used = memory.pool_blocks_used,
          .pool_bytes_evictable = memory.pool_bytes_evictable,
          .tentative_bytes = memory.tentative_bytes};
}

linkw::StateSpaceDescriptor ToWire(const StateSpace& space) {
  return {.space_id = linkw::SpaceId{static_cast<uint32_t>(space.id)},
          .name = space.name,
          .bytes_per_token = space.bytes_per_token,
          .boundary_tokens = space.boundary_tokens,
          .encodings = space.encodings,
          .compat_key = space.compat_key};
}

}  // namespace superfluid
