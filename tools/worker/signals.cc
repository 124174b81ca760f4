#include "tools/worker/signals.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace superfluid {
namespace {

// A blocked signal comes even if it is ignored, so this must be asked.
bool IsIgnored(int signal) {
  struct sigaction action {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

SignalWaiter::SignalWaiter(OwnedFd signals, OwnedFd wake)
    : signals_(std::move(signals)), wake_(std::move(wake)) {}

absl::StatusOr<SignalWaiter> SignalWaiter::Create() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a buffer beyond RLIMIT_FSIZE is an error of its request
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  if (!IsIgnored(SIGHUP)) sigaddset(&set, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  OwnedFd signals(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  OwnedFd wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!signals.valid() || !wake.valid()) {
    return absl::InternalError(absl::StrCat("cannot wait for signals: ", std::strerror(errno)));
  }
  return SignalWaiter(std::move(signals), std::move(wake));
}

std::optional<int> SignalWaiter::Wait() {
  while (true) {
    pollfd polled[2] = {{.fd = signals_.get(), .events = POLLIN, .revents = 0},
                        {.fd = wake_.get(), .events = POLLIN, .revents = 0}};
    if (poll(polled, 2, -1) < 0) continue;  // EINTR: nothing else can go wrong with two own fds
    uint64_t wakes = 0;
    if (read(wake_.get(), &wakes, sizeof wakes) == static_cast<ssize_t>(sizeof wakes)) {
      return std::nullopt;
    }
    signalfd_siginfo info{};
    if (read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
      return static_cast<int>(info.ssi_signo);
    }
  }
}

void SignalWaiter::Wake() {
  const uint64_t one = 1;
  (void)!write(wake_.get(), &one, sizeof one);
}

}  // namespace superfluid
