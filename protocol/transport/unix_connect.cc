#include "protocol/transport/unix_connect.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "protocol/transport/unix_address.h"
#include "shm/socket_util.h"

namespace superfluid {
namespace {

// connect(2) of a Unix socket never is "in progress": it waits, as long as SO_SNDTIMEO says, while
// the listener's queue is full.
absl::Status LimitConnectTime(int socket, absl::Duration timeout) {
  // All zeros would mean for ever.
  timeval limit = absl::ToTimeval(std::max(timeout, absl::Microseconds(1)));
  if (timeout == absl::InfiniteDuration()) limit = {};
  if (setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) == 0) {
    return absl::OkStatus();
  }
  return absl::InternalError(absl::ErrnoToStatus(errno, "cannot set up a socket").message());
}

bool IsSocketFile(const std::string& path) {
  struct stat file = {};
  return stat(path.c_str(), &file) == 0 && S_ISSOCK(file.st_mode);
}

absl::Status ConnectError(int error, const std::string& path, absl::Duration timeout) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return absl::NotFoundError(
          absl::StrCat("there is no socket at ", path, "; is the worker running?"));
    case ECONNREFUSED:
      if (IsSocketFile(path)) {
        return absl::UnavailableError(absl::StrCat("no worker is listening on ", path));
      }
      return absl::InvalidArgumentError(absl::StrCat(path, " is not a socket"));
    case EPROTOTYPE:
      return absl::InvalidArgumentError(absl::StrCat(path, " is a socket of another kind"));
    case EACCES:
    case EPERM:
      return absl::PermissionDeniedError(absl::StrCat("no permission to connect to ", path));
    case EAGAIN:
      return absl::DeadlineExceededError(absl::StrCat(
          "the worker on ", path, " took no connection within ", absl::FormatDuration(timeout)));
    default:
      return absl::InternalError(
          absl::ErrnoToStatus(error, absl::StrCat("cannot connect to ", path)).message());
  }
}

}  // namespace

absl::StatusOr<OwnedFd> ConnectUnix(std::string_view path, absl::Duration timeout) {
  absl::StatusOr<UnixAddress> address = MakeUnixAddress(path);
  if (!address.ok()) return address.status();
  OwnedFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return absl::ErrnoToStatus(errno, "cannot make a socket");
  if (absl::Status status = LimitConnectTime(fd.get(), timeout); !status.ok()) return status;
  int rc = 0;
  do {
    rc = connect(fd.get(), address->get(), UnixAddress::size());
  } while (rc != 0 && errno == EINTR);
  if (rc != 0) return ConnectError(errno, std::string(path), timeout);
  if (absl::Status status = PrepareStreamSocket(fd.get()); !status.ok()) return status;
  return fd;
}

}  // namespace superfluid
