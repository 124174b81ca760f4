#include "shm/socket_util.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <ctime>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace superfluid {
namespace {

absl::Duration MonotonicNow() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return absl::DurationFromTimespec(now);
}

bool IsConnectedStream(int fd) {
  int type = 0;
  socklen_t length = sizeof(type);
  sockaddr_storage peer = {};
  socklen_t peer_length = sizeof(peer);
  return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_STREAM &&
         getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &peer_length) == 0;
}

// Adds to the flags that get/set commands of fcntl read and write.
bool AddFlag(int fd, int get, int set, int flag) {
  const int flags = fcntl(fd, get);
  return flags >= 0 && fcntl(fd, set, flags | flag) == 0;
}

}  // namespace

absl::Status PrepareStreamSocket(int fd) {
  if (!IsConnectedStream(fd) || !AddFlag(fd, F_GETFL, F_SETFL, O_NONBLOCK) ||
      !AddFlag(fd, F_GETFD, F_SETFD, FD_CLOEXEC)) {
    return absl::InvalidArgumentError("the descriptor is not a connected stream socket");
  }
  return absl::OkStatus();
}

void WaitForSocket(int socket, short events, absl::Duration patience) {
  const absl::Duration end = MonotonicNow() + patience;
  for (;;) {
    const absl::Duration left = end - MonotonicNow();
    if (left < absl::ZeroDuration()) return;
    pollfd item = {socket, events, 0};
    timespec timeout = absl::ToTimespec(left);
    // ppoll keeps the fraction of a millisecond that poll would round away into a busy loop.
    const bool forever = left == absl::InfiniteDuration();
    const int rc = ppoll(&item, 1, forever ? nullptr : &timeout, nullptr);
    if (rc >= 0 || errno != EINTR) return;
  }
}

}  // namespace superfluid
