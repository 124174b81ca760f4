#include "tools/superfluidd/fleet/worker_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace superfluid::daemon {
namespace {

constexpr int kFramesFd = 3;  // in the child
constexpr int kFdsFd = 4;
constexpr int kFirstFreeFd = 10;
constexpr int kCannotExecute = 127;

absl::Status NoResource(const char* what) {
  return absl::ResourceExhaustedError(absl::ErrnoToStatus(errno, what).message());
}

// A connected pair whose descriptors are none that the child gives another meaning.
absl::Status MakePair(OwnedFd* ours, OwnedFd* theirs) {
  int fds[2] = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) return NoResource("socketpair");
  ours->Reset(fds[0]);
  const OwnedFd low(fds[1]);
  theirs->Reset(fcntl(low.get(), F_DUPFD_CLOEXEC, kFirstFreeFd));
  return theirs->valid() ? absl::OkStatus() : NoResource("socketpair");
}

std::vector<char*> Pointers(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

// In the child, between fork and exec: nothing but system calls.
[[noreturn]] void Execute(const char* program, char* const* argv, int frames, int fds,
                          const cpu_set_t* cpus, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(kCannotExecute);  // it died before that
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int number : {SIGPIPE, SIGINT, SIGTERM, SIGHUP}) signal(number, SIG_DFL);
  // A Ctrl-C on the terminal is the daemon's to pass on.
  setpgid(0, 0);
  if (cpus != nullptr) sched_setaffinity(0, sizeof(*cpus), cpus);
  if (dup2(frames, kFramesFd) < 0 || dup2(fds, kFdsFd) < 0) _exit(kCannotExecute);
  execv(program, argv);
  _exit(kCannotExecute);
}

}  // namespace

absl::StatusOr<std::unique_ptr<WorkerProcess>> WorkerProcess::Start(const WorkerCommand& command,
                                                                    OwnedFd* frames, OwnedFd* fds) {
  if (access(command.program.c_str(), X_OK) != 0) {
    return absl::NotFoundError(absl::StrCat("cannot run ", command.program));
  }
  OwnedFd their_frames;
  OwnedFd their_fds;
  if (absl::Status status = MakePair(frames, &their_frames); !status.ok()) return status;
  if (absl::Status status = MakePair(fds, &their_fds); !status.ok()) return status;
  std::vector<std::string> words = {command.program};
  words.insert(words.end(), command.arguments.begin(), command.arguments.end());
  words.insert(words.end(),
               {"--frames-fd", absl::StrCat(kFramesFd), "--fds-fd", absl::StrCat(kFdsFd)});
  const std::vector<char*> argv = Pointers(words);
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  for (const int cpu : command.cpus) CPU_SET(static_cast<size_t>(cpu), &cpus);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) return NoResource("fork");
  if (pid == 0) {
    Execute(command.program.c_str(), argv.data(), their_frames.get(), their_fds.get(),
            command.cpus.empty() ? nullptr : &cpus, parent);
  }
  return absl::WrapUnique(new WorkerProcess(pid));
}

WorkerProcess::~WorkerProcess() { WaitForEnd(absl::ZeroDuration()); }

void WorkerProcess::Signal(int signal) {
  const std::lock_guard lock(mutex_);
  if (running_) kill(pid_, signal);
}

std::string WorkerProcess::WaitForEnd(absl::Duration patience) {
  const OwnedFd process(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
  pollfd poll_fd = {.fd = process.get(), .events = POLLIN, .revents = 0};
  if (process.valid()) poll(&poll_fd, 1, static_cast<int>(absl::ToInt64Milliseconds(patience)));
  if (!Reap(WNOHANG)) {
    Signal(SIGKILL);
    Reap(0);
  }
  const std::lock_guard lock(mutex_);
  return end_;
}

// Returns whether it has ended.
bool WorkerProcess::Reap(int options) {
  const std::lock_guard lock(mutex_);
  if (!running_) return true;
  int status = 0;
  pid_t reaped = 0;
  do {
    reaped = waitpid(pid_, &status, options);
  } while (reaped < 0 && errno == EINTR);
  if (reaped == 0) return false;
  running_ = false;
  end_ = WIFSIGNALED(status) ? absl::StrCat("signal ", WTERMSIG(status))
                             : absl::StrCat("exit ", WEXITSTATUS(status));
  return true;
}

}  // namespace superfluid::daemon
