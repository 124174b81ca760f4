#include "tools/ctl/terminal/interruption.h"

#include <utility>

namespace superfluid::ctl {

ExitCode StopExitCode(StopReason reason) {
  switch (reason) {
    case StopReason::kNone:
      return ExitCode::kOk;
    case StopReason::kInterrupt:
      return ExitCode::kInterrupted;
    case StopReason::kTerminate:
      return ExitCode::kTerminated;
    case StopReason::kHangUp:
      return ExitCode::kHungUp;
    case StopReason::kQuit:
      return ExitCode::kQuit;
    case StopReason::kTimer:
      return ExitCode::kCancelled;
    case StopReason::kOutputClosed:
      return ExitCode::kOutputClosed;
    case StopReason::kLocalFailure:
      return ExitCode::kFailed;
  }
  return ExitCode::kFailed;
}

Interruption::Stage::Stage(Interruption& interruption, std::function<void()> stop)
    : interruption_(interruption) {
  {
    const std::lock_guard lock(interruption_.mutex_);
    interruption_.stop_ = std::move(stop);
  }
  // The watcher may call it as well: to stop twice does no harm.
  if (interruption_.stopped()) interruption_.StopCurrent();
}

Interruption::Stage::~Stage() {
  const std::lock_guard lock(interruption_.mutex_);
  interruption_.stop_ = nullptr;
}

void Interruption::StopCurrent() {
  const std::lock_guard lock(mutex_);
  if (stop_) stop_();
}

void Interruption::Fail(const absl::Status& status) {
  if (absl::IsAborted(status)) return watcher_.Stop(StopReason::kOutputClosed);
  {
    const std::lock_guard lock(mutex_);
    if (local_failure_.ok()) local_failure_ = status;
  }
  watcher_.Stop(StopReason::kLocalFailure);
}

absl::Status Interruption::local_failure() const {
  const std::lock_guard lock(mutex_);
  return local_failure_;
}

}  // namespace superfluid::ctl
