#include "protocol/transport/unix_listener.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "protocol/transport/unix_address.h"

namespace superfluid {
namespace {

constexpr int kBacklog = 64;
constexpr int kLockAttempts = 100;
constexpr absl::Duration kLockPause = absl::Milliseconds(10);

absl::Status SystemError(int error, const char* what, const std::string& path) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return absl::NotFoundError(absl::StrCat(what, " ", path, ": no such folder"));
    case EACCES:
    case EPERM:
    case EROFS:
      return absl::PermissionDeniedError(absl::StrCat(what, " ", path, ": no permission"));
    case EADDRINUSE:
      return absl::AlreadyExistsError(absl::StrCat(what, " ", path, ": something is there"));
    default:
      return absl::InternalError(
          absl::ErrnoToStatus(error, absl::StrCat(what, " ", path)).message());
  }
}

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// Keeps two workers that start at once from removing each other's socket between the look and the
// removal. A lock on the folder itself leaves no file behind; closing it unlocks.
absl::StatusOr<OwnedFd> LockFolder(const std::string& path) {
  OwnedFd folder(open(FolderOf(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.valid()) return SystemError(errno, "cannot listen on", path);
  for (int attempt = 0; attempt < kLockAttempts; ++attempt) {
    if (flock(folder.get(), LOCK_EX | LOCK_NB) == 0) return folder;
    if (errno != EWOULDBLOCK && errno != EINTR) {
      return SystemError(errno, "cannot lock the folder of", path);
    }
    absl::SleepFor(kLockPause);
  }
  return absl::UnavailableError(
      absl::StrCat("another process keeps the folder of ", path, " locked"));
}

// Whether the socket at `path` is nobody's any more: its file outlived its process.
absl::Status CheckNobodyListens(const UnixAddress& address, const std::string& path) {
  const OwnedFd probe(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!probe.valid()) return SystemError(errno, "cannot look at", path);
  const int rc = connect(probe.get(), address.get(), UnixAddress::size());
  if (rc != 0 && errno == ECONNREFUSED) return absl::OkStatus();
  // Everything else, a full queue, a socket of another kind or another user among it, means
  // that somebody may be there.
  return absl::AlreadyExistsError(absl::StrCat("somebody is listening on ", path, " already"));
}

absl::Status RemoveStale(const UnixAddress& address, const std::string& path) {
  struct stat file = {};
  if (lstat(path.c_str(), &file) != 0) {
    return errno == ENOENT ? absl::OkStatus() : SystemError(errno, "cannot listen on", path);
  }
  if (!S_ISSOCK(file.st_mode)) {
    return absl::AlreadyExistsError(absl::StrCat(path, " exists and is not a socket"));
  }
  if (absl::Status status = CheckNobodyListens(address, path); !status.ok()) return status;
  if (unlink(path.c_str()) == 0 || errno == ENOENT) return absl::OkStatus();
  return SystemError(errno, "cannot remove the stale socket", path);
}

// Linux gives a socket's file the mode that the socket had when it was bound, less the umask:
// changing the socket first leaves no moment at which others may connect.
absl::StatusOr<OwnedFd> Bind(const UnixAddress& address, const std::string& path, mode_t mode) {
  OwnedFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid() || fchmod(fd.get(), mode) != 0 ||
      bind(fd.get(), address.get(), UnixAddress::size()) != 0) {
    return SystemError(errno, "cannot listen on", path);
  }
  return fd;
}

// The permissions in the file system; zero if they cannot be seen.
mode_t ModeOf(const std::string& path) {
  struct stat file = {};
  return lstat(path.c_str(), &file) == 0 && S_ISSOCK(file.st_mode) ? file.st_mode & 07777 : 0;
}

bool IsOption(int fd, int option, int expected) {
  int value = 0;
  socklen_t size = sizeof(value);
  return getsockopt(fd, SOL_SOCKET, option, &value, &size) == 0 && value == expected;
}

// The name of a listening Unix stream socket: a path, or '@' and an abstract name.
absl::StatusOr<std::string> NameOf(int fd) {
  if (!IsOption(fd, SO_DOMAIN, AF_UNIX) || !IsOption(fd, SO_TYPE, SOCK_STREAM) ||
      !IsOption(fd, SO_ACCEPTCONN, 1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("descriptor ", fd, " is no Unix stream socket that listens"));
  }
  sockaddr_un address = {};
  socklen_t size = sizeof(address);
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return absl::InternalError(absl::ErrnoToStatus(errno, "cannot ask for its name").message());
  }
  constexpr size_t kBeforeName = offsetof(sockaddr_un, sun_path);
  if (size <= kBeforeName) return std::string();
  if (address.sun_path[0] == '\0') {
    return absl::StrCat("@", std::string(address.sun_path + 1, size - kBeforeName - 1));
  }
  return std::string(address.sun_path, strnlen(address.sun_path, size - kBeforeName));
}

bool OutOfResources(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

}  // namespace

absl::StatusOr<std::unique_ptr<UnixListener>> UnixListener::Listen(std::string_view path_view,
                                                                   mode_t mode,
                                                                   std::optional<gid_t> group) {
  const std::string path(path_view);
  const absl::StatusOr<UnixAddress> address = MakeUnixAddress(path);
  if (!address.ok()) return address.status();
  OwnedFd wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake.valid()) return SystemError(errno, "cannot listen on", path);

  const absl::StatusOr<OwnedFd> lock = LockFolder(path);
  if (!lock.ok()) return lock.status();
  if (absl::Status status = RemoveStale(*address, path); !status.ok()) return status;
  absl::StatusOr<OwnedFd> fd = Bind(*address, path, mode);
  if (!fd.ok()) return fd.status();
  struct stat file = {};
  if (lstat(path.c_str(), &file) != 0) return SystemError(errno, "cannot listen on", path);
  // From here on the destructor removes the file.
  std::unique_ptr<UnixListener> listener(
      new UnixListener(path, FileId{file.st_dev, file.st_ino}, *std::move(fd), std::move(wake)));
  // Whoever connects before `listen` is told that nobody is there. A change of group may clear bits
  // of the mode, and the umask has narrowed it.
  if (group.has_value() && chown(path.c_str(), static_cast<uid_t>(-1), *group) != 0) {
    return SystemError(errno, "cannot change the group of", path);
  }
  if (mode != kOwnUser && chmod(path.c_str(), mode) != 0) {
    return SystemError(errno, "cannot change the mode of", path);
  }
  if (listen(listener->socket_.get(), kBacklog) != 0) {
    return SystemError(errno, "cannot listen on", path);
  }
  listener->mode_ = ModeOf(path);
  return listener;
}

absl::StatusOr<std::unique_ptr<UnixListener>> UnixListener::Adopt(OwnedFd socket) {
  absl::StatusOr<std::string> name = NameOf(socket.get());
  if (!name.ok()) return name.status();
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg)
  const int flags = fcntl(socket.get(), F_GETFL);
  OwnedFd wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg)
  if (flags < 0 || fcntl(socket.get(), F_SETFL, flags | O_NONBLOCK) != 0 || !wake.valid()) {
    return SystemError(errno, "cannot listen on", *name);
  }
  const mode_t mode = ModeOf(*name);
  std::unique_ptr<UnixListener> listener(
      new UnixListener(*std::move(name), std::nullopt, std::move(socket), std::move(wake)));
  listener->mode_ = mode;
  return listener;
}

UnixListener::UnixListener(std::string path, std::optional<FileId> file, OwnedFd socket,
                           OwnedFd wake)
    : path_(std::move(path)), file_(file), socket_(std::move(socket)), wake_(std::move(wake)) {}

UnixListener::~UnixListener() {
  if (!file_.has_value()) return;
  // While the socket is open its inode, and so the number, cannot be anybody else's.
  struct stat file = {};
  if (lstat(path_.c_str(), &file) == 0 && file.st_dev == file_->device &&
      file.st_ino == file_->inode) {
    unlink(path_.c_str());
  }
}

IoState UnixListener::Wait() {
  for (;;) {
    std::array<pollfd, 2> items = {pollfd{socket_.get(), POLLIN, 0},
                                   pollfd{wake_.get(), POLLIN, 0}};
    const int rc = poll(items.data(), items.size(), -1);
    if (rc < 0 && errno == EINTR) continue;
    if (items[1].revents != 0) return IoState::kClosed;
    return IoState::kOk;  // also if poll failed: Accept will say why
  }
}

absl::StatusOr<std::optional<AcceptedConnection>> UnixListener::Accept() {
  for (;;) {
    OwnedFd fd(accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd.valid()) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      if (errno == EAGAIN) return std::nullopt;
      if (OutOfResources(errno)) {
        return absl::ResourceExhaustedError("no descriptor or memory left to accept a connection");
      }
      return SystemError(errno, "cannot accept on", path_);
    }
    ucred peer = {};
    socklen_t length = sizeof(peer);
    // A connection whose peer cannot be told is not to be trusted: it is closed.
    if (getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) continue;
    return AcceptedConnection{std::move(fd), peer.uid, peer.pid};
  }
}

void UnixListener::Shutdown() {
  const uint64_t one = 1;
  // Fails only if the counter is full, and then it is readable anyway.
  static_cast<void>(!write(wake_.get(), &one, sizeof(one)));
}

}  // namespace superfluid
