#include "protocol/reply_router.h"

#include <utility>

namespace superfluid::linkw {

std::shared_ptr<ReplyQueue> ReplyRouter::Open(uint64_t request_seq) {
  auto queue = std::make_shared<ReplyQueue>(capacity_);
  absl::MutexLock lock(&mutex_);
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
    absl::MutexLock lock(&mutex_);
    const auto it = queues_.find(request_seq);
    if (it == queues_.end()) return;
    queue = std::move(it->second);
    queues_.erase(it);
  }
  queue->Abandon();
}

std::shared_ptr<ReplyQueue> ReplyRouter::Find(uint64_t request_seq) const {
  absl::MutexLock lock(&mutex_);
  const auto it = queues_.find(request_seq);
  return it == queues_.end() ? nullptr : it->second;
}

void ReplyRouter::Close(const absl::Status& why) {
  absl::MutexLock lock(&mutex_);
  if (!closed_.ok()) return;
  closed_ = why;
  for (const auto& [seq, queue] : queues_) queue->Close(why);
  queues_.clear();
}

void ReplyRouter::AwaitClosed(absl::Duration timeout) const {
  absl::MutexLock lock(&mutex_);
  mutex_.AwaitWithTimeout(absl::Condition(
                              +[](const absl::Status* closed) { return !closed->ok(); }, &closed_),
                          timeout);
}

absl::Status ReplyRouter::status() const {
  absl::MutexLock lock(&mutex_);
  return closed_;
}

}  // namespace superfluid::linkw
