#include "tools/ctl/base/stop_watcher.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <utility>

#include "tools/ctl/base/monotonic.h"
#include "tools/ctl/base/temporary_file.h"

namespace superfluid::ctl {
namespace {

struct StopSignal {
  int number;
  StopReason reason;
};
constexpr std::array kStopSignals = {
    StopSignal{SIGINT, StopReason::kInterrupt}, StopSignal{SIGTERM, StopReason::kTerminate},
    StopSignal{SIGHUP, StopReason::kHangUp}, StopSignal{SIGQUIT, StopReason::kQuit}};

// What the signal handler sees of the one StopWatcher there is.
struct SignalState {
  std::atomic<int> wake_fd{-1};
  std::atomic<int> first_signal{0};
  std::atomic<bool> stopping{false};
  std::array<struct sigaction, kStopSignals.size()> former = {};
};
static_assert(std::atomic<int>::is_always_lock_free);

// NOLINTNEXTLINE(*-avoid-non-const-global-variables): a handler has no other way
SignalState signal_state;

// Async-signal-safe, and so is what the handler calls.
void Wake(int fd) {
  const uint64_t one = 1;
  // An eventfd takes 2^64 - 2 of them.
  [[maybe_unused]] const ssize_t written = write(fd, &one, sizeof(one));
}

// Leaves neither half of a progress bar behind nor half of a file.
void QuitNow(int signal_number) {
  constexpr char erase_line[] = "\r\x1b[K";
  if (isatty(STDERR_FILENO) != 0) {
    [[maybe_unused]] const ssize_t written =
        write(STDERR_FILENO, erase_line, sizeof(erase_line) - 1);
  }
  RemoveTemporaryFiles();
  _exit(128 + signal_number);
}

extern "C" void HandleStopSignal(int signal_number) {
  const int saved_errno = errno;
  if (signal_state.stopping.exchange(true)) QuitNow(signal_number);
  signal_state.first_signal.store(signal_number);
  Wake(signal_state.wake_fd.load());
  errno = saved_errno;
}

void CatchSignals(int wake_fd) {
  signal_state.wake_fd.store(wake_fd);
  signal_state.first_signal.store(0);
  signal_state.stopping.store(false);
  struct sigaction action = {};
  action.sa_handler = HandleStopSignal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < kStopSignals.size(); ++i) {
    struct sigaction& former = signal_state.former[i];
    sigaction(kStopSignals[i].number, &action, &former);
    const bool nohup = kStopSignals[i].number == SIGHUP && former.sa_handler == SIG_IGN;
    if (nohup) sigaction(SIGHUP, &former, nullptr);
  }
}

void ReleaseSignals() {
  for (size_t i = 0; i < kStopSignals.size(); ++i) {
    sigaction(kStopSignals[i].number, &signal_state.former[i], nullptr);
  }
}

StopReason ReasonOfSignal(int signal_number) {
  for (const StopSignal& signal : kStopSignals) {
    if (signal.number == signal_number) return signal.reason;
  }
  return StopReason::kNone;
}

// For poll: rounded up, so that it does not wake just before the time.
int PollTimeout(absl::Duration left) {
  constexpr int64_t longest = 1 << 30;
  const int64_t ms = absl::ToInt64Milliseconds(absl::Ceil(left, absl::Milliseconds(1)));
  return static_cast<int>(std::clamp<int64_t>(ms, 0, longest));
}

}  // namespace

bool IsStopByUser(StopReason reason) {
  switch (reason) {
    case StopReason::kInterrupt:
    case StopReason::kTerminate:
    case StopReason::kHangUp:
    case StopReason::kQuit:
    case StopReason::kTimer:
      return true;
    case StopReason::kNone:
    case StopReason::kOutputClosed:
    case StopReason::kLocalFailure:
      break;
  }
  return false;
}

StopWatcher::StopWatcher(Options options, std::function<void(StopReason)> on_stop)
    : options_(options), on_stop_(std::move(on_stop)), wake_(eventfd(0, EFD_CLOEXEC)) {
  CatchSignals(wake_.get());
  thread_ = std::thread([this] { Watch(); });
}

StopWatcher::~StopWatcher() {
  ReleaseSignals();
  Wake(wake_.get());
  thread_.join();
}

void StopWatcher::Stop(StopReason reason) {
  {
    const std::lock_guard lock(mutex_);
    if (reason_ != StopReason::kNone) return;
    reason_ = reason;
    stopped_at_ = MonotonicNow();
  }
  signal_state.stopping.store(true);
  on_stop_(reason);
}

StopReason StopWatcher::reason() const {
  const std::lock_guard lock(mutex_);
  return reason_;
}

std::optional<absl::Duration> StopWatcher::since_stop() const {
  const std::lock_guard lock(mutex_);
  if (reason_ == StopReason::kNone) return std::nullopt;
  return MonotonicNow() - stopped_at_;
}

void StopWatcher::Watch() {
  if (const StopReason reason = WaitForReason(); reason != StopReason::kNone) Stop(reason);
}

// kNone: the watcher is being destroyed.
StopReason StopWatcher::WaitForReason() {
  const absl::Duration due =
      options_.after.has_value() ? MonotonicNow() + *options_.after : absl::InfiniteDuration();
  // Asking for no event, poll still reports that the other end is gone.
  std::array<pollfd, 2> fds = {pollfd{.fd = wake_.get(), .events = POLLIN, .revents = 0},
                               pollfd{.fd = options_.output_fd, .events = 0, .revents = 0}};
  while (true) {
    const absl::Duration left = due - MonotonicNow();
    if (left <= absl::ZeroDuration()) return StopReason::kTimer;
    const int timeout = options_.after.has_value() ? PollTimeout(left) : -1;
    if (poll(fds.data(), fds.size(), timeout) < 0) continue;  // EINTR
    if (fds[0].revents != 0) {
      const int signal_number = signal_state.first_signal.load();
      return signal_number == 0 ? StopReason::kNone : ReasonOfSignal(signal_number);
    }
    if ((fds[1].revents & (POLLERR | POLLHUP)) != 0) return StopReason::kOutputClosed;
    if (fds[1].revents != 0) fds[1].fd = -1;  // no descriptor at all
  }
}

}  // namespace superfluid::ctl
