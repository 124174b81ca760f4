#include "tools/service/service_manager.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "engine/monotonic_time.h"
#include "shm/owned_fd.h"

namespace superfluid {
namespace {

constexpr int kFirstActivated = 3;     // SD_LISTEN_FDS_START
constexpr int kMostActivated = 1024;   // a broken variable must not keep the process busy
constexpr timeval kPatience = {1, 0};  // with a manager that reads nothing
constexpr int kSignsInTime = 4;
constexpr absl::Duration kLoadingPeriod = absl::Seconds(1);
constexpr absl::Duration kLoadingPatience = absl::Seconds(30);  // of the manager, from each word on

// Returns a variable and removes it.
std::string Take(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): one thread
  std::string taken = value == nullptr ? "" : value;
  unsetenv(name);  // NOLINT(concurrency-mt-unsafe)
  return taken;
}

std::optional<int64_t> TakeNumber(const char* name) {
  int64_t number = 0;
  if (!absl::SimpleAtoi(Take(name), &number)) return std::nullopt;
  return number;
}

int64_t NowNs() { return absl::ToUnixNanos(MonotonicTime()); }

}  // namespace

std::vector<int> TakeActivatedSockets() {
  const std::optional<int64_t> count = TakeNumber("LISTEN_FDS");
  const std::optional<int64_t> pid = TakeNumber("LISTEN_PID");
  Take("LISTEN_FDNAMES");
  std::vector<int> sockets;
  if (pid != getpid() || count.value_or(0) > kMostActivated) return sockets;
  for (int64_t i = 0; i < count.value_or(0); ++i) {
    const int fd = kFirstActivated + static_cast<int>(i);
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg)
    if (fcntl(fd, F_SETFD, FD_CLOEXEC) == 0) sockets.push_back(fd);
  }
  return sockets;
}

ServiceManager ServiceManager::FromEnvironment() {
  std::string socket = Take("NOTIFY_SOCKET");
  const int64_t watchdog_us = TakeNumber("WATCHDOG_USEC").value_or(0);
  const bool for_us = TakeNumber("WATCHDOG_PID").value_or(getpid()) == getpid();
  return {std::move(socket),
          for_us && watchdog_us > 0 ? absl::Microseconds(watchdog_us) : absl::ZeroDuration()};
}

void ServiceManager::Ready(absl::string_view status) const {
  Send(status.empty() ? "READY=1" : absl::StrCat("READY=1\nSTATUS=", status), 0);
}

void ServiceManager::Loading(uint32_t permille) {
  if (!present()) return;
  const int64_t now_ns = NowNs();
  const int64_t told_ns = loading_ns_.load();
  if (told_ns != 0 && now_ns - told_ns < absl::ToInt64Nanoseconds(kLoadingPeriod)) return;
  loading_ns_ = now_ns;
  const std::string how_far = permille == 0 ? "" : absl::StrCat(": ", permille / 10, " %");
  Send(absl::StrCat("EXTEND_TIMEOUT_USEC=", absl::ToInt64Microseconds(kLoadingPatience),
                    "\nSTATUS=loading the engine", how_far),
       MSG_DONTWAIT);
}

void ServiceManager::Reloading() const {
  Send(absl::StrCat("RELOADING=1\nMONOTONIC_USEC=", NowNs() / 1000), 0);
}

void ServiceManager::Stopping() const { Send("STOPPING=1", 0); }

void ServiceManager::Status(absl::string_view status) const {
  Send(absl::StrCat("STATUS=", status), MSG_DONTWAIT);
}

void ServiceManager::Alive() {
  if (watchdog_ == absl::ZeroDuration()) return;
  const int64_t now_ns = NowNs();
  int64_t told_ns = told_ns_.load();
  if (told_ns != 0 && now_ns - told_ns < absl::ToInt64Nanoseconds(watchdog_) / kSignsInTime) return;
  if (told_ns_.compare_exchange_strong(told_ns, now_ns)) Send("WATCHDOG=1", MSG_DONTWAIT);
}

void ServiceManager::Send(absl::string_view lines, int flags) const {
  sockaddr_un address = {};
  if (socket_.empty() || socket_.size() >= sizeof(address.sun_path)) return;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, socket_.data(), socket_.size());
  const bool abstract = address.sun_path[0] == '@';
  if (abstract) address.sun_path[0] = '\0';
  const auto size =
      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size() + (abstract ? 0 : 1));
  const OwnedFd fd(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return;
  setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof(kPatience));
  (void)sendto(fd.get(), lines.data(), lines.size(), flags | MSG_NOSIGNAL,
               reinterpret_cast<const sockaddr*>(&address), size);
}

}  // namespace superfluid
