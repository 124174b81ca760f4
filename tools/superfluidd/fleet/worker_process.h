#ifndef SUPERFLUID_TOOLS_SUPERFLUIDD_FLEET_WORKER_PROCESS_H_
#define SUPERFLUID_TOOLS_SUPERFLUIDD_FLEET_WORKER_PROCESS_H_

#include <sys/types.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "shm/owned_fd.h"

namespace superfluid::daemon {

struct WorkerCommand {
  std::string program;
  std::vector<std::string> arguments;  // without the sockets
  std::vector<int> cpus;               // it may run on these only; empty: on all
};

// A worker as a child process, with the two sockets of its link inherited. It ends when the link
// does, and is killed if this process dies. Thread-safe.
class WorkerProcess {
 public:
  // Starts it. `frames` and `fds` get our ends. Errors: ResourceExhausted (descriptors, processes),
  // NotFound (no such program).
  static absl::StatusOr<std::unique_ptr<WorkerProcess>> Start(const WorkerCommand& command,
                                                              OwnedFd* frames, OwnedFd* fds);
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;
  ~WorkerProcess();  // kills it, if it runs, and waits

  pid_t pid() const { return pid_; }

  // Sends a signal, if it still runs.
  void Signal(int signal);

  // Waits until it has ended, kills it if that takes longer than `patience`, and returns how it
  // ended, for people: "exit 70", "signal 9". Blocks.
  std::string WaitForEnd(absl::Duration patience);

 private:
  explicit WorkerProcess(pid_t pid) : pid_(pid) {}
  bool Reap(int options);

  const pid_t pid_;
  std::mutex mutex_;
  bool running_ = true;  // guarded by mutex_, as is:
  std::string end_;
};

}  // namespace superfluid::daemon

#endif  // SUPERFLUID_TOOLS_SUPERFLUIDD_FLEET_WORKER_PROCESS_H_
