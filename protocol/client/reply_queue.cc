#include "protocol/client/reply_queue.h"

#include <algorithm>
#include <utility>

#include "protocol/messages/status.h"

namespace superfluid::linkw {

ReplyQueue::ReplyQueue(size_t capacity) : capacity_(std::max<size_t>(capacity, 1)) {}

void ReplyQueue::Push(absl::StatusOr<WorkerMessage> answer) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock,
                [this] { return answers_.size() < capacity_ || !closed_.ok() || abandoned_; });
  if (closed_.ok() && !abandoned_) answers_.push_back(std::move(answer));
  changed_.notify_all();
}

absl::StatusOr<WorkerMessage> ReplyQueue::Pop(Deadline deadline) {
  std::unique_lock lock(mutex_);
  if (!deadline.Await(changed_, lock, [this] { return !answers_.empty() || !closed_.ok(); })) {
    return MakeStatus(Status::kDeadlineExceeded, "the worker did not answer in time");
  }
  if (answers_.empty()) return closed_;
  absl::StatusOr<WorkerMessage> answer = std::move(answers_.front());
  answers_.pop_front();
  changed_.notify_all();
  return answer;
}

void ReplyQueue::Close(const absl::Status& why) {
  const std::lock_guard lock(mutex_);
  if (closed_.ok()) closed_ = why;
  changed_.notify_all();
}

void ReplyQueue::Abandon() {
  const std::lock_guard lock(mutex_);
  abandoned_ = true;
  answers_.clear();
  changed_.notify_all();
}

}  // namespace superfluid::linkw
