#include "actors/state_ops/piece_runner.h"

#include <utility>

namespace superfluid {

absl::Status PieceRunner::Begin(Work work) {
  if (!Push(std::move(work))) return absl::OkStatus();
  absl::Status begun = executor_->Begin(RunPartLater());
  if (begun.ok()) return begun;
  const std::lock_guard lock(mutex_);
  --threads_;
  // Another thread took it, or will: none goes while something waits.
  if (waiting_.empty() || threads_ > 0) return absl::OkStatus();
  waiting_.pop_back();
  return begun;
}

void PieceRunner::Continue(Work work) {
  if (Push(std::move(work))) executor_->Continue(RunPartLater());
}

bool PieceRunner::Push(Work work) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back(std::move(work));
  if (threads_ >= at_once_) return false;
  ++threads_;
  return true;
}

BlockingExecutor::Task PieceRunner::RunPartLater() {
  return [self = shared_from_this()] { self->RunPart(); };
}

void PieceRunner::RunPart() {
  Work work;
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.empty()) {
      --threads_;
      return;
    }
    work = std::move(waiting_.front());
    waiting_.pop_front();
  }
  const bool more = work();
  if (!more) work = nullptr;  // what it holds goes before the thread is free
  {
    const std::lock_guard lock(mutex_);
    if (more) waiting_.push_back(std::move(work));
    if (waiting_.empty()) {
      --threads_;
      return;
    }
  }
  executor_->Continue(RunPartLater());
}

}  // namespace superfluid
