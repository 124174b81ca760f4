#ifndef SUPERFLUID_SHM_FD_PASSING_H_
#define SUPERFLUID_SHM_FD_PASSING_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "shm/io_state.h"
#include "shm/owned_fd.h"

namespace superfluid {

// A descriptor as it travels on a link's fds channel: the tag says what it is for (a ring's id,
// a buffer's id, or kControlTag).
struct TaggedFd {
  uint64_t tag = 0;
  OwnedFd fd;
};

// Tag of the control segment.
inline constexpr uint64_t kControlTag = ~uint64_t{0};

// What one attempt to receive gave: a descriptor if and only if the state is kOk.
struct FdReceiveResult {
  std::optional<TaggedFd> item;
  IoState state = IoState::kWouldBlock;
};

// On the wire each descriptor is one message of a Unix stream socket: 8 bytes, the tag in little
// endian, with exactly one descriptor (SCM_RIGHTS) on its first byte.

// Sends `fd` under `tag` without blocking. `fd` stays the caller's. kWouldBlock: the socket is full
// because the peer does not read. kClosed: the peer is gone. Errors: InvalidArgument (`fd` is not
// open), ResourceExhausted (too many descriptors in flight, no memory), Internal (the message
// went out in part; the socket cannot be used any further).
absl::StatusOr<IoState> SendTaggedFd(int socket, uint64_t tag, int fd);

// Receives tagged descriptors from one socket, one at a time. It keeps what arrived of a message
// that came in pieces, so there is one receiver to a socket.
//
// Whatever the peer sends, no descriptor leaks: extras are closed, all have close-on-exec.
// Threads: one at a time. Lifetime: `socket` must stay open as long as this object is used.
class TaggedFdReceiver {
 public:
  explicit TaggedFdReceiver(int socket) : socket_(socket) {}

  // Takes one message, or what there is of it, without blocking. kClosed: the peer closed between
  // two messages. Errors, after which the same error is given for ever: InvalidArgument (a message
  // without a descriptor or with several), DataLoss (closed inside a message), ResourceExhausted
  // (descriptors were cut off: far too many, or this process has none left), Internal (the socket).
  absl::StatusOr<FdReceiveResult> Receive();

 private:
  absl::StatusOr<FdReceiveResult> ReceiveMore();
  absl::Status Accept(size_t bytes, absl::Span<OwnedFd> fds);

  int socket_;
  std::array<unsigned char, sizeof(uint64_t)> tag_bytes_ = {};
  size_t received_ = 0;  // bytes of the message so far; its descriptor is held iff this is not 0
  OwnedFd fd_;
  absl::Status broken_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_SHM_FD_PASSING_H_
