#include "tools/worker/log_queue.h"

#include <utility>

namespace superfluid {

void LogQueue::Push(std::string line) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (closed_) return;
  if (line.size() > max_bytes_) {
    ++dropped_;
  } else {
    bytes_ += line.size();
    lines_.push_back(std::move(line));
    while (bytes_ > max_bytes_) DropOldest();  // invariant 1
  }
  unwritten_.store(lines_.size() + 1, std::memory_order_release);
  filled_.notify_one();
}

void LogQueue::DropOldest() {
  bytes_ -= lines_.front().size();
  lines_.pop_front();
  ++dropped_;  // invariant 2
}

std::optional<LogQueue::Batch> LogQueue::Take(size_t most_bytes) {
  std::unique_lock<std::mutex> lock(mutex_);
  filled_.wait(lock, [this] { return closed_ || !lines_.empty() || dropped_ > 0; });
  if (lines_.empty() && dropped_ == 0) return std::nullopt;
  Batch batch{.text = {}, .dropped = std::exchange(dropped_, 0)};
  while (!lines_.empty() &&
         (batch.text.empty() || batch.text.size() + lines_.front().size() <= most_bytes)) {
    bytes_ -= lines_.front().size();
    batch.text += lines_.front();
    lines_.pop_front();
  }
  writing_ = true;
  unwritten_.store(lines_.size() + 1, std::memory_order_release);
  return batch;
}

void LogQueue::Written() {
  const std::lock_guard<std::mutex> lock(mutex_);
  writing_ = false;
  const bool more = !lines_.empty() || dropped_ > 0;
  unwritten_.store(more ? lines_.size() + 1 : 0, std::memory_order_release);
  if (!more) written_.notify_all();
}

bool LogQueue::WaitUntilWritten(absl::Duration limit) {
  std::unique_lock<std::mutex> lock(mutex_);
  return written_.wait_for(lock, absl::ToChronoNanoseconds(limit),
                           [this] { return !writing_ && lines_.empty() && dropped_ == 0; });
}

void LogQueue::Close() {
  const std::lock_guard<std::mutex> lock(mutex_);
  closed_ = true;
  filled_.notify_all();
}

}  // namespace superfluid
