#ifndef SUPERFLUID_TOOLS_WORKER_SIGNALS_H_
#define SUPERFLUID_TOOLS_WORKER_SIGNALS_H_

#include <atomic>
#include <functional>
#include <optional>
#include <thread>

#include "absl/status/statusor.h"
#include "shm/owned_fd.h"

namespace superfluid {

// SIGTERM, SIGINT and SIGHUP (unless that is ignored, as nohup wants it) as events of the main
// thread, together with a wake-up by other threads.
//
// Create it before any other thread exists: it blocks the signals for the whole process. SIGPIPE
// and SIGXFSZ are ignored from then on. Threads: Wait from one thread; Wake from any.
class SignalWaiter {
 public:
  // Internal: the system refuses a descriptor.
  static absl::StatusOr<SignalWaiter> Create();

  // Blocks until a signal came (its number) or Wake was called since the last nullopt (nullopt).
  std::optional<int> Wait();
  void Wake();

 private:
  SignalWaiter(OwnedFd signals, OwnedFd wake);

  OwnedFd signals_;
  OwnedFd wake_;
};

// Waits for a signal on a thread of its own while the main thread is busy with what cannot be
// interrupted, and then calls `on_signal` with the signal's number; that is to end the process.
//
// Lifetime: within that of the waiter, which nobody else waits with meanwhile. A signal that comes
// too late to be seen is left to the waiter.
class SignalWatch {
 public:
  SignalWatch(SignalWaiter& signals, std::function<void(int)> on_signal);
  ~SignalWatch();  // blocks if on_signal is being called and returns late
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

 private:
  SignalWaiter& signals_;
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_TOOLS_WORKER_SIGNALS_H_
