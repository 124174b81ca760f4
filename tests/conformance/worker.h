#ifndef SUPERFLUID_TESTS_CONFORMANCE_WORKER_H_
#define SUPERFLUID_TESTS_CONFORMANCE_WORKER_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace superfluid::conformance {

// Splits a command line at spaces; '...' and "..." keep them, backslashes have no meaning.
std::vector<std::string> SplitCommand(const std::string& command);

// A process that this suite started. Killed with this object. Threads: one.
class Process {
 public:
  // `inherited`: descriptors that it gets, as {ours, its number}. Its standard error goes to the
  // end of `log`. Throws Failed if it cannot be started.
  Process(const std::vector<std::string>& arguments, const std::string& log,
          const std::vector<std::pair<int, int>>& inherited = {});
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  bool Running();
  // "exit code 1", "signal 11"; of a process that has ended.
  std::string End() const;
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
  bool ended_ = false;
  int status_ = 0;
};

// A worker that listens on a path: one that this suite starts, and starts again when it has died,
// or one that runs already.
class Worker {
 public:
  // Starts nothing yet. Its log goes to `socket` + ".log".
  Worker(std::vector<std::string> command, const std::string& socket);
  explicit Worker(std::string socket) : socket_(std::move(socket)) {}
  ~Worker();

  // Starts it if it does not run. Throws Failed if it does not listen within a minute.
  void EnsureRunning();
  // Empty if it runs as it should; else how it ended. It is not running any more then.
  std::string Died();

  bool ours() const { return !command_.empty(); }
  const std::vector<std::string>& command() const { return command_; }
  const std::string& socket() const { return socket_; }
  const std::string& log() const { return log_; }

 private:
  bool Listens() const;

  std::vector<std::string> command_;
  std::string socket_;
  std::string log_;
  std::unique_ptr<Process> process_;
};

}  // namespace superfluid::conformance

#endif  // SUPERFLUID_TESTS_CONFORMANCE_WORKER_H_
