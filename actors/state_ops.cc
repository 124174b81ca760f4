#include "actors/state_ops.h"

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "protocol/status.h"

namespace superfluid {

namespace {

// A system that has no memory or descriptors left is OUT_OF_MEMORY to the peer, not BUSY.
absl::Status OfSystem(const absl::Status& status) {
  if (!absl::IsResourceExhausted(status)) return status;
  return linkw::MakeStatus(linkw::Status::kOutOfMemory, std::string(status.message()));
}

}  // namespace

BufferAllocated StateOpsState::OnAllocate(const AllocateBuffer& allocate) {
  if (absl::Status room = buffers_->CheckRoom(allocate.bytes); !room.ok()) return {.status = room};
  absl::StatusOr<Segment> segment = Segment::Create(
      allocate.bytes, absl::StrCat("superfluid-buf-", static_cast<uint64_t>(allocate.id)));
  if (!segment.ok()) return {.status = OfSystem(segment.status())};
  if (absl::Status added = buffers_->Insert(allocate.id, *std::move(segment)); !added.ok()) {
    return {.status = added};
  }
  return {.status = absl::OkStatus(), .segment = *buffers_->Use(allocate.id)};
}

BufferAttached StateOpsState::OnAttach(const AttachBuffer& attach) {
  if (absl::Status room = buffers_->CheckRoom(attach.bytes); !room.ok()) return {room};
  absl::StatusOr<Segment> segment =
      Segment::Attach(std::move(*attach.fd), attach.bytes, SegmentAccess::kReadWrite);
  if (!segment.ok()) return {OfSystem(segment.status())};
  return {buffers_->Insert(attach.id, *std::move(segment))};
}

void StateOpsState::OnBind(const BindBuffer& bind) {
  absl::StatusOr<std::shared_ptr<const Segment>> segment = buffers_->Use(bind.id);
  BufferBound bound{.status = segment.status()};
  if (segment.ok()) bound.segment = *std::move(segment);
  compat::Send(self_, bind.user, std::move(bound));
}

StateOps::behavior_type StateOpsBehavior(StateOps::stateful_pointer<StateOpsState> self,
                                         BufferLimits limits) {
  self->state.Start(limits);
  return {
      [self](const AllocateBuffer& allocate) { return self->state.OnAllocate(allocate); },
      [self](const AttachBuffer& attach) { return self->state.OnAttach(attach); },
      [self](const ReleaseBuffer& release) { self->state.OnRelease(release); },
      [self](const BindBuffer& bind) { self->state.OnBind(bind); },
  };
}

}  // namespace superfluid
