#include "protocol/client/reply_router.h"

#include <utility>

namespace superfluid::linkw {

std::shared_ptr<ReplyQueue> ReplyRouter::Open(uint64_t request_seq) {
  auto queue = std::make_shared<ReplyQueue>(capacity_);
  const std::lock_guard lock(mutex_);
  if (closed_.ok()) {
    queues_.emplace(request_seq, queue);
  } else {
    queue->Close(closed_);
  }
  return queue;
}

void ReplyRouter::Forget(uint64_t request_seq) {
  std::shared_ptr<ReplyQueue> queue;
  {
    const std::lock_guard lock(mutex_);
    const auto it = queues_.find(request_seq);
    if (it == queues_.end()) return;
    queue = std::move(it->second);
    queues_.erase(it);
  }
  queue->Abandon();
}

std::shared_ptr<ReplyQueue> ReplyRouter::Find(uint64_t request_seq) const {
  const std::lock_guard lock(mutex_);
  const auto it = queues_.find(request_seq);
  return it == queues_.end() ? nullptr : it->second;
}

void ReplyRouter::Close(const absl::Status& why) {
  const std::lock_guard lock(mutex_);
  if (!closed_.ok()) return;
  closed_ = why;
  for (const auto& [seq, queue] : queues_) queue->Close(why);
  queues_.clear();
  was_closed_.notify_all();
}

void ReplyRouter::AwaitClosed(Deadline deadline) const {
  std::unique_lock lock(mutex_);
  deadline.Await(was_closed_, lock, [this] { return !closed_.ok(); });
}

absl::Status ReplyRouter::status() const {
  const std::lock_guard lock(mutex_);
  return closed_;
}

}  // namespace superfluid::linkw
