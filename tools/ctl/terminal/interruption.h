#ifndef SUPERFLUID_TOOLS_CTL_TERMINAL_INTERRUPTION_H_
#define SUPERFLUID_TOOLS_CTL_TERMINAL_INTERRUPTION_H_

#include <functional>
#include <mutex>

#include "absl/status/status.h"
#include "tools/ctl/base/exit_code.h"
#include "tools/ctl/base/stop_watcher.h"

namespace superfluid::ctl {

// What a command ends with that was stopped for this reason; kOk for kNone.
ExitCode StopExitCode(StopReason reason);

// A StopWatcher for work in several stages, each of which is stopped in another way. A stop that
// came between two stages stops the next one.
//
// Threads: any. Lifetime: what a stage captures must live until the Stage is destroyed.
class Interruption {
 public:
  explicit Interruption(StopWatcher::Options options)
      : watcher_(options, [this](StopReason) { StopCurrent(); }) {}

  // While it lives, a stop calls `stop`, on the watcher's thread.
  class Stage {
   public:
    Stage(Interruption& interruption, std::function<void()> stop);
    Stage(const Stage&) = delete;
    Stage& operator=(const Stage&) = delete;
    ~Stage();

   private:
    Interruption& interruption_;
  };

  // A write or a local file that failed: Aborted means that the output's reader left.
  void Fail(const absl::Status& status);

  StopReason reason() const { return watcher_.reason(); }
  bool stopped() const { return reason() != StopReason::kNone; }
  absl::Status local_failure() const;

 private:
  void StopCurrent();

  mutable std::mutex mutex_;
  std::function<void()> stop_;  // guarded by mutex_; null between stages
  absl::Status local_failure_;  // guarded by mutex_
  StopWatcher watcher_;         // last: its thread uses the rest
};

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_TERMINAL_INTERRUPTION_H_
