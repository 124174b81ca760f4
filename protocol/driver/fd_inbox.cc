#include "protocol/driver/fd_inbox.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "protocol/status.h"
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
  absl::MutexLock lock(&mutex_);
  ended_ = status;
}

void FdInbox::Keep(TaggedFd item) {
  absl::MutexLock lock(&mutex_);
  if (waiting_.size() == kCapacity) waiting_.pop_front();
  waiting_.push_back(std::move(item));
}

std::deque<TaggedFd>::iterator FdInbox::Find(uint64_t tag) {
  return std::find_if(waiting_.begin(), waiting_.end(),
                      [tag](const TaggedFd& item) { return item.tag == tag; });
}

bool FdInbox::HasOrEnded(Wanted* wanted) ABSL_NO_THREAD_SAFETY_ANALYSIS {
  FdInbox& inbox = *wanted->inbox;
  return !inbox.ended_.ok() || inbox.Find(wanted->tag) != inbox.waiting_.end();
}

absl::StatusOr<OwnedFd> FdInbox::Take(uint64_t tag, absl::Time deadline) {
  Wanted wanted = {this, tag};
  absl::MutexLock lock(&mutex_);
  mutex_.AwaitWithDeadline(absl::Condition(&HasOrEnded, &wanted), deadline);
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
