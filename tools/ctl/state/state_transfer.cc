#include "tools/ctl/state/state_transfer.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "protocol/codec/state_envelope.h"
#include "protocol/driver/expect_reply.h"
#include "protocol/messages/deadline.h"
#include "protocol/messages/status.h"
#include "tools/ctl/base/patience.h"

namespace superfluid::ctl {
namespace {

constexpr uint32_t kRawEncoding = 0;

}  // namespace

StateTransfer::StateTransfer(linkw::LinkClient& client, Interruption& interruption,
                             absl::Duration patience, std::unique_ptr<linkw::DriverBuffers> buffers)
    : client_(&client),
      interruption_(&interruption),
      patience_(patience),
      buffers_(std::move(buffers)) {}

absl::StatusOr<StateTransfer> StateTransfer::Open(linkw::LinkClient& client,
                                                  Interruption& interruption,
                                                  absl::Duration patience) {
  absl::StatusOr<std::unique_ptr<linkw::DriverBuffers>> buffers =
      linkw::DriverBuffers::Open(client, patience);
  if (!buffers.ok()) return buffers.status();
  return StateTransfer(client, interruption, patience, *std::move(buffers));
}

absl::StatusOr<linkw::StateSyncReply> StateTransfer::Call(linkw::StateSyncCall call) {
  return Patience(*client_, patience_).Call(std::move(call), "a call");
}

absl::StatusOr<linkw::SequenceId> StateTransfer::CreateSequence() {
  const auto made = linkw::ExpectResult<linkw::CreateSequenceResult>(Call(linkw::CreateSequence{}));
  if (!made.ok()) return made.status();
  return made->sequence;
}

// A space that can only end earlier moves all of them, so it is asked until none does. The position
// falls each time, so that it ends.
absl::StatusOr<uint64_t> StateTransfer::CommonBoundary(linkw::SequenceId sequence,
                                                       uint64_t position) {
  uint64_t common = std::numeric_limits<uint64_t>::max();
  while (common != position) {
    common = position;
    for (const linkw::StateSpaceDescriptor& space : client_->hello_ack().state_space_descriptors) {
      const auto boundary =
          linkw::ExpectResult<linkw::SnapshotBoundaryResult>(Call(linkw::SnapshotBoundary{
              .sequence = sequence, .space_id = space.space_id, .cap = position}));
      if (!boundary.ok()) return boundary.status();
      position = std::min(position, boundary->boundary);
    }
  }
  return position;
}

absl::Status StateTransfer::RunOp(const linkw::StateOp& op) {
  linkw::DriverOps ops(*client_, patience_);
  const absl::StatusOr<std::unique_ptr<linkw::DriverOp>> submitted = ops.Submit(op);
  if (!submitted.ok()) return submitted.status();
  linkw::DriverOp& running = **submitted;
  const Interruption::Stage stage(*interruption_, [&running] { running.Cancel().IgnoreError(); });
  const absl::StatusOr<linkw::StateOpDone> done = Await(running);
  return done.ok() ? linkw::StatusOf(*done) : done.status();
}

// An op may move gigabytes. Whoever stops it wants an answer.
absl::StatusOr<linkw::StateOpDone> StateTransfer::Await(linkw::DriverOp& op) {
  Patience patience(*client_, patience_);
  while (true) {
    const bool stopped_before = interruption_->stopped();
    absl::StatusOr<linkw::StateOpDone> done = op.Wait(linkw::Deadline::After(patience_));
    if (!absl::IsDeadlineExceeded(done.status()) || stopped_before) return done;
    if (absl::Status works = patience.Ask("a state op"); !works.ok()) return works;
  }
}

absl::StatusOr<StateTransfer::Saved> StateTransfer::Save(linkw::SequenceId sequence,
                                                         linkw::SpaceId space, uint64_t boundary) {
  const auto size = linkw::ExpectResult<linkw::ExportSizeResult>(Call(linkw::ExportSize{
      .sequence = sequence, .space_id = space, .range = {0, boundary}, .encoding = kRawEncoding}));
  if (!size.ok()) return size.status();
  if (size->required_bytes > std::numeric_limits<uint64_t>::max() / 2) {
    return linkw::MakeStatus(linkw::Status::kInternal, "the worker claims an impossible size");
  }
  absl::StatusOr<linkw::DriverBuffer> buffer =
      buffers_->Allocate(linkw::kStateEnvelopeBytes + size->required_bytes);
  if (!buffer.ok()) return buffer.status();
  absl::Status status = RunOp(linkw::Snapshot{.sequence = sequence,
                                              .space_id = space,
                                              .boundary_pos = boundary,
                                              .buf_id = buffer->id(),
                                              .sizing_gen = size->sizing_gen});
  if (!status.ok()) return status;
  const absl::StatusOr<linkw::StateEnvelope> envelope = linkw::ParseStateEnvelope(buffer->bytes());
  if (!envelope.ok()) return envelope.status();
  const uint64_t sealed_bytes = envelope->sealed_bytes();
  return Saved{*std::move(buffer), sealed_bytes};
}

absl::Status StateTransfer::Load(const SnapshotFile& file, size_t index,
                                 linkw::SequenceId sequence) {
  const SnapshotSpace& space = file.directory().spaces[index];
  absl::StatusOr<linkw::DriverBuffer> buffer = buffers_->Attach(space.sealed_bytes);
  if (!buffer.ok()) return buffer.status();
  absl::Status status = file.ReadState(index, buffer->bytes());
  if (!status.ok()) return status;
  status =
      RunOp(linkw::Restore{.sequence = sequence, .space_id = space.id, .buf_id = buffer->id()});
  // The worker does not know our buffer if it refused it before.
  const absl::Status refusal = buffer->refusal();
  return status.ok() || refusal.ok() ? status : refusal;
}

}  // namespace superfluid::ctl
