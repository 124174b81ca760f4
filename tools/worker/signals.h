#ifndef SUPERFLUID_TOOLS_WORKER_SIGNALS_H_
#define SUPERFLUID_TOOLS_WORKER_SIGNALS_H_

#include <optional>

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

}  // namespace superfluid

#endif  // SUPERFLUID_TOOLS_WORKER_SIGNALS_H_
