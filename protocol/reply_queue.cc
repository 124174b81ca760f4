#include "protocol/reply_queue.h"

#include <algorithm>
#include <utility>

#include "protocol/status.h"

namespace superfluid::linkw {

ReplyQueue::ReplyQueue(size_t capacity) : capacity_(std::max<size_t>(capacity, 1)) {}

bool ReplyQueue::HasRoomOrEnded() const {
  return answers_.size() < capacity_ || !closed_.ok() || abandoned_;
}

bool ReplyQueue::HasAnswerOrEnded() const { return !answers_.empty() || !closed_.ok(); }

void ReplyQueue::Push(absl::StatusOr<WorkerMessage> answer) {
  absl::MutexLock lock(&mutex_);
  mutex_.Await(absl::Condition(this, &ReplyQueue::HasRoomOrEnded));
  if (closed_.ok() && !abandoned_) answers_.push_back(std::move(answer));
}

absl::StatusOr<WorkerMessage> ReplyQueue::Pop(absl::Time deadline) {
  absl::MutexLock lock(&mutex_);
  if (!mutex_.AwaitWithDeadline(absl::Condition(this, &ReplyQueue::HasAnswerOrEnded), deadline)) {
    return MakeStatus(Status::kDeadlineExceeded, "the worker did not answer in time");
  }
  if (answers_.empty()) return closed_;
  absl::StatusOr<WorkerMessage> answer = std::move(answers_.front());
  answers_.pop_front();
  return answer;
}

void ReplyQueue::Close(const absl::Status& why) {
  absl::MutexLock lock(&mutex_);
  if (closed_.ok()) closed_ = why;
}

void ReplyQueue::Abandon() {
  absl::MutexLock lock(&mutex_);
  abandoned_ = true;
  answers_.clear();
}

}  // namespace superfluid::linkw
