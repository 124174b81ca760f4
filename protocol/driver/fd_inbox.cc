#include "protocol/driver/fd_inbox.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "protocol/messages/status.h"
#include "shm/io_state.h"

namespace superfluid::linkw {

FdInbox::FdInbox(FdChannel& channel) : channel_(channel), receiver_([this] { Receive(); }) {}

FdInbox::~FdInbox() {
  channel_.Shutdown();
  receiver_.join();
}

void FdInbox::Receive() {
  absl::Status status;
  while (status.ok()) {
    absl::StatusOr<FdReceiveResult> received = channel_.Receive();
    if (!received.ok()) {
      status = received.status();
    } else if (received->item.has_value()) {
      Keep(std::move(*received->item));
    } else if (received->state == IoState::kClosed) {
      status = MakeStatus(Status::kLinkClosed, "the worker closed the fds connection");
    } else {
      channel_.WhenReadable([] {});
    }
  }
  const std::lock_guard lock(mutex_);
  ended_ = status;
  changed_.notify_all();
}

void FdInbox::Keep(TaggedFd item) {
  const std::lock_guard lock(mutex_);
  if (waiting_.size() == kCapacity) waiting_.pop_front();
  waiting_.push_back(std::move(item));
  changed_.notify_all();
}

std::deque<TaggedFd>::iterator FdInbox::Find(uint64_t tag) {
  return std::find_if(waiting_.begin(), waiting_.end(),
                      [tag](const TaggedFd& item) { return item.tag == tag; });
}

absl::StatusOr<OwnedFd> FdInbox::Take(uint64_t tag, Deadline deadline) {
  std::unique_lock lock(mutex_);
  deadline.Await(changed_, lock,
                 [this, tag] { return !ended_.ok() || Find(tag) != waiting_.end(); });
  const auto found = Find(tag);
  if (found == waiting_.end()) {
    if (!ended_.ok()) return ended_;
    return MakeStatus(Status::kDeadlineExceeded,
                      absl::StrCat("the worker sent no descriptor with tag ", tag));
  }
  OwnedFd fd = std::move(found->fd);
  waiting_.erase(found);
  return fd;
}

}  // namespace superfluid::linkw
