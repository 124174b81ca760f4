#ifndef SUPERFLUID_TESTS_INTEGRATION_WORKER_PROCESS_H_
#define SUPERFLUID_TESTS_INTEGRATION_WORKER_PROCESS_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "protocol/client/link_client.h"

namespace superfluid {

// The standard descriptors of a worker.
struct WorkerStdio {
  int error_fd = -1;    // its standard error, which the caller keeps; -1: the file that Log() reads
  bool closed = false;  // it starts without any of the three
};

// The real worker binary as a child process, listening in a folder of its own. Killed and cleaned
// up with this object, whatever happened.
class WorkerProcess {
 public:
  // `arguments` besides --listen (unless they have one of their own). Fails the test if the process
  // cannot be started.
  explicit WorkerProcess(std::vector<std::string> arguments, WorkerStdio stdio = {});
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  // Connects as soon as the worker listens.
  std::unique_ptr<linkw::LinkClient> Connect(linkw::Role role = linkw::Role::kDriver);

  void Signal(int signal);
  // Waits for the end; the exit code, or 128 + signal.
  int Wait();
  bool running();

  const std::string& folder() const { return folder_; }
  const std::string& socket() const { return socket_; }
  std::string Log() const;
  pid_t pid() const { return pid_; }

 private:
  std::string folder_;
  std::string socket_;
  std::string log_;
  pid_t pid_ = -1;
};

}  // namespace superfluid

#endif  // SUPERFLUID_TESTS_INTEGRATION_WORKER_PROCESS_H_
