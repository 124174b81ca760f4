#include "protocol/driver/driver_buffers.h"

#include <utility>
#include <variant>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "protocol/driver/expect_reply.h"
#include "protocol/messages/deadline.h"
#include "protocol/messages/status.h"
#include "shm/owned_fd.h"

namespace superfluid::linkw {

// ---- One buffer

DriverBuffer::DriverBuffer(LinkClient& client, BufId id, Segment segment,
                           std::unique_ptr<ReplyStream> attach_replies)
    : client_(&client),
      id_(id),
      segment_(std::move(segment)),
      attach_replies_(std::move(attach_replies)) {}

DriverBuffer::DriverBuffer(DriverBuffer&& other) noexcept
    : client_(std::exchange(other.client_, nullptr)),
      id_(std::exchange(other.id_, BufId{})),
      segment_(std::move(other.segment_)),
      attach_replies_(std::move(other.attach_replies_)) {}

DriverBuffer& DriverBuffer::operator=(DriverBuffer&& other) noexcept {
  if (this == &other) return *this;
  Release();
  client_ = std::exchange(other.client_, nullptr);
  id_ = std::exchange(other.id_, BufId{});
  segment_ = std::move(other.segment_);
  attach_replies_ = std::move(other.attach_replies_);
  return *this;
}

absl::Status DriverBuffer::refusal() const {
  if (attach_replies_ == nullptr) return absl::OkStatus();
  const absl::StatusOr<WorkerMessage> reply = attach_replies_->Next(absl::InfinitePast());
  if (!reply.ok()) return absl::OkStatus();  // nothing came
  const auto* error = std::get_if<Error>(&*reply);
  return error == nullptr ? absl::OkStatus() : ErrorStatus(*error);
}

void DriverBuffer::Release() {
  if (client_ == nullptr) return;
  // If the link is gone the worker has let go already.
  client_->Send(BufRelease{id_}).IgnoreError();
  client_ = nullptr;
  id_ = BufId{};
  attach_replies_.reset();
  segment_ = Segment();
}

// ---- Where they come from

DriverBuffers::DriverBuffers(LinkClient& client, absl::Duration timeout)
    : client_(client), timeout_(timeout), inbox_(*client.fds()) {}

absl::StatusOr<std::unique_ptr<DriverBuffers>> DriverBuffers::Open(LinkClient& client,
                                                                   absl::Duration timeout) {
  if (client.fds() == nullptr) {
    return MakeStatus(Status::kFailedPrecondition, "this link has no fds connection");
  }
  return absl::WrapUnique(new DriverBuffers(client, timeout));
}

absl::StatusOr<DriverBuffer> DriverBuffers::Allocate(uint64_t bytes) {
  if (bytes == 0) return absl::InvalidArgumentError("a buffer of 0 bytes");
  const BufId id = NextId();
  const Deadline deadline = Deadline::After(timeout_);
  const absl::StatusOr<BufAlloced> alloced =
      ExpectReply<BufAlloced>(client_.Request(BufAlloc{.buf_id = id, .len = bytes}, timeout_));
  if (!alloced.ok()) return alloced.status();
  if (alloced->status != Status::kOk) return MakeStatus(alloced->status, alloced->message);
  // From here on it is released, whatever becomes of it here.
  DriverBuffer buffer(client_, id, Segment(), nullptr);
  absl::StatusOr<OwnedFd> fd = inbox_.Take(static_cast<uint64_t>(id), deadline);
  if (!fd.ok()) return fd.status();
  absl::StatusOr<Segment> segment =
      Segment::Attach(*std::move(fd), bytes, SegmentAccess::kReadWrite);
  if (!segment.ok()) return segment.status();
  buffer.segment_ = *std::move(segment);
  return buffer;
}

absl::StatusOr<DriverBuffer> DriverBuffers::Attach(uint64_t bytes) {
  absl::StatusOr<Segment> segment = Segment::Create(bytes, "superfluid-buffer");
  if (!segment.ok()) return segment.status();
  const absl::StatusOr<OwnedFd> fd = segment->DuplicateFd();
  if (!fd.ok()) return fd.status();
  const BufId id = NextId();
  absl::Status status = client_.SendFd(static_cast<uint64_t>(id), fd->get());
  if (!status.ok()) return status;
  absl::StatusOr<std::unique_ptr<ReplyStream>> replies =
      client_.Start(BufAttach{.buf_id = id, .len = bytes});
  if (!replies.ok()) return replies.status();
  return DriverBuffer(client_, id, *std::move(segment), *std::move(replies));
}

}  // namespace superfluid::linkw
