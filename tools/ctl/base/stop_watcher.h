#ifndef SUPERFLUID_TOOLS_CTL_BASE_STOP_WATCHER_H_
#define SUPERFLUID_TOOLS_CTL_BASE_STOP_WATCHER_H_

#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "absl/time/time.h"
#include "shm/owned_fd.h"

namespace superfluid::ctl {

enum class StopReason {
  kNone,
  kInterrupt,     // SIGINT
  kTerminate,     // SIGTERM
  kHangUp,        // SIGHUP: the terminal is gone
  kQuit,          // SIGQUIT
  kTimer,         // StopWatcher::Options::after
  kOutputClosed,  // whoever read the output is gone
  kLocalFailure,  // a local file cannot be read or written any further
};

// Whether the user asked for the stop: by a signal or by the time given beforehand.
bool IsStopByUser(StopReason reason);

// Looks out for reasons to stop what is going on, and says so once: SIGINT, SIGTERM, SIGHUP (unless
// it was ignored before, as under nohup) and SIGQUIT, a timer, the end of whoever reads our output.
//
// The first reason counts and calls `on_stop`, on a thread of this object's own, so that it may
// take locks and write to sockets. A signal after that ends the process at once, with 128 + its
// number, whatever the other threads wait for; TemporaryFiles are removed. Signals have their
// former meaning again afterwards.
//
// Threads: every method may be called from any thread. One at a time in a process.
class StopWatcher {
 public:
  struct Options {
    std::optional<absl::Duration> after;  // from now
    int output_fd = -1;                   // a pipe or socket to watch; -1: none
  };

  StopWatcher(Options options, std::function<void(StopReason)> on_stop);
  StopWatcher(const StopWatcher&) = delete;
  StopWatcher& operator=(const StopWatcher&) = delete;
  ~StopWatcher();  // waits for a call of on_stop to return

  // A reason that somebody else noticed. Nothing if there is one already. on_stop is called on this
  // thread.
  void Stop(StopReason reason);

  StopReason reason() const;
  // Since the first reason; nullopt while there is none.
  std::optional<absl::Duration> since_stop() const;

 private:
  void Watch();
  StopReason WaitForReason();

  const Options options_;
  const std::function<void(StopReason)> on_stop_;
  OwnedFd wake_;
  mutable std::mutex mutex_;
  StopReason reason_ = StopReason::kNone;  // guarded by mutex_
  absl::Duration stopped_at_;              // guarded by mutex_; on the monotonic clock
  std::thread thread_;
};

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_BASE_STOP_WATCHER_H_
