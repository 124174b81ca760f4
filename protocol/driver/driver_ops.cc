#include "protocol/driver/driver_ops.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "protocol/driver/expect_reply.h"
#include "protocol/messages/status.h"

namespace superfluid::linkw {

absl::Status StatusOf(const StateOpDone& done) {
  if (done.state == OpState::kDone) return absl::OkStatus();
  const Status otherwise =
      done.state == OpState::kCancelled ? Status::kCancelled : Status::kInternal;
  return MakeStatus(done.error == Status::kOk ? otherwise : done.error,
                    done.message.empty() ? "the state op did not succeed" : done.message);
}

DriverOp::DriverOp(LinkClient& client, OpHandle handle, std::unique_ptr<ReplyStream> replies)
    : client_(client), handle_(handle), replies_(std::move(replies)) {}

DriverOp::~DriverOp() { Cancel().IgnoreError(); }

// One thread at a time takes the answer; the others find it kept.
absl::StatusOr<StateOpDone> DriverOp::Wait(Deadline deadline) {
  {
    absl::MutexLock lock(&mutex_);
    if (done_.has_value()) return *done_;
  }
  const absl::StatusOr<StateOpDone> done = ExpectReply<StateOpDone>(replies_->Next(deadline));
  absl::MutexLock lock(&mutex_);
  if (done_.has_value()) return *done_;
  if (!done.ok()) return done.status();
  if (done->op_handle != handle_) {
    return MakeStatus(Status::kInternal,
                      absl::StrCat("the worker ended op ", static_cast<uint64_t>(done->op_handle),
                                   " in the name of op ", static_cast<uint64_t>(handle_)));
  }
  done_ = *done;
  return *done;
}

absl::Status DriverOp::Cancel() {
  {
    absl::MutexLock lock(&mutex_);
    if (done_.has_value()) return absl::OkStatus();
  }
  return client_.Send(OpCancel{handle_}).status();
}

absl::StatusOr<std::unique_ptr<DriverOp>> DriverOps::Submit(const StateOp& op) {
  absl::StatusOr<std::unique_ptr<ReplyStream>> replies = client_.Start(StateOpSubmit{op});
  if (!replies.ok()) return replies.status();
  const absl::StatusOr<StateOpAccepted> accepted =
      ExpectReply<StateOpAccepted>((*replies)->Next(Deadline::After(timeout_)));
  if (!accepted.ok()) return accepted.status();
  if (accepted->status != Status::kOk) return MakeStatus(accepted->status, accepted->message);
  return std::make_unique<DriverOp>(client_, accepted->op_handle, *std::move(replies));
}

absl::StatusOr<uint64_t> DriverOps::Run(const StateOp& op, Deadline deadline) {
  const absl::StatusOr<std::unique_ptr<DriverOp>> submitted = Submit(op);
  if (!submitted.ok()) return submitted.status();
  const absl::StatusOr<StateOpDone> done = (*submitted)->Wait(deadline);
  if (!done.ok()) return done.status();
  if (absl::Status status = StatusOf(*done); !status.ok()) return status;
  return done->bytes_moved;
}

}  // namespace superfluid::linkw
