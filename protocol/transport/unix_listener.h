#ifndef SUPERFLUID_PROTOCOL_TRANSPORT_UNIX_LISTENER_H_
#define SUPERFLUID_PROTOCOL_TRANSPORT_UNIX_LISTENER_H_

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "shm/io_state.h"
#include "shm/owned_fd.h"

namespace superfluid {

// A connection that a listener took: non-blocking, close-on-exec, and who is at the other end
// (SO_PEERCRED, as of its connect).
struct AcceptedConnection {
  OwnedFd socket;
  uid_t uid = 0;
  pid_t pid = 0;
};

// A Unix stream socket in the file system on which a worker waits for its daemon.
//
// Threads: one thread calls Wait and Accept; any may call Shutdown.
// Lifetime: destroying it removes the file that Listen made, unless somebody put another one in its
// place.
class UnixListener {
 public:
  // The mode of a socket that the process's own user may connect to, or any user: the latter is for
  // a caller that looks at the uid of each connection.
  static constexpr mode_t kOwnUser = 0600;
  static constexpr mode_t kAnyUser = 0666;

  // Creates the socket file at `path` with this mode (from the first moment: no umask is touched)
  // and of this group (default: the process's) and listens. A socket file that nobody listens on
  // any more is replaced. Errors: InvalidArgument (empty, longer than 107 bytes, a NUL inside),
  // AlreadyExists (somebody listens there; something that is not a socket is there), NotFound (no
  // such folder), PermissionDenied (also: of a group that the process is not in), Unavailable
  // (another process kept its own set-up in this folder going for too long), Internal (anything
  // else that the system said).
  static absl::StatusOr<std::unique_ptr<UnixListener>> Listen(
      std::string_view path, mode_t mode = kOwnUser, std::optional<gid_t> group = std::nullopt);

  // Takes over a Unix stream socket that listens already; its file, if it has one, stays when the
  // listener goes. Errors: InvalidArgument (it is something else), Internal.
  static absl::StatusOr<std::unique_ptr<UnixListener>> Adopt(OwnedFd socket);

  ~UnixListener();
  UnixListener(const UnixListener&) = delete;
  UnixListener& operator=(const UnixListener&) = delete;

  const std::string& path() const { return path_; }

  // The permissions of the socket's file when the listener was made; zero if it has no file.
  mode_t mode() const { return mode_; }

  // For a caller that waits for several things at once: both become readable for poll(2), the first
  // when somebody may be waiting to be accepted, the second (for ever) once Shutdown was called.
  int listen_fd() const { return socket_.get(); }
  int wake_fd() const { return wake_.get(); }

  // Blocks until somebody may be waiting to be accepted (kOk) or Shutdown was called (kClosed).
  IoState Wait();

  // The next connection, or nullopt if none waits. Never blocks. Errors: ResourceExhausted (no
  // descriptor or memory left: the connection still waits, so pause before trying again), Internal.
  absl::StatusOr<std::optional<AcceptedConnection>> Accept();

  // Makes every Wait, now and later, return kClosed. Any thread, any number of times.
  void Shutdown();

 private:
  struct FileId {
    dev_t device = 0;
    ino_t inode = 0;
  };

  UnixListener(std::string path, std::optional<FileId> file, OwnedFd socket, OwnedFd wake);

  const std::string path_;
  const std::optional<FileId> file_;  // none: it is not this listener's to remove
  mode_t mode_ = 0;
  const OwnedFd socket_;
  const OwnedFd wake_;  // an eventfd; readable for ever once Shutdown was called
};

}  // namespace superfluid

#endif  // SUPERFLUID_PROTOCOL_TRANSPORT_UNIX_LISTENER_H_
