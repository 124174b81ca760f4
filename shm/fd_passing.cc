#include "shm/fd_passing.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/status/status.h"

namespace superfluid {
namespace {

constexpr size_t kTagBytes = sizeof(uint64_t);
// More than the one descriptor that a message may have, so that extras are seen, and room for what
// a socket inherited with odd options may add (credentials, a pidfd). What does not fit is cut off
// by the kernel, which says so.
constexpr size_t kMaxFdsSeen = 8;
constexpr size_t kControlBytesRoom = CMSG_SPACE(kMaxFdsSeen * sizeof(int)) +
                                     CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(sizeof(int));
constexpr int kScmPidfd = 4;  // SCM_PIDFD, newer than the distribution's headers

std::array<unsigned char, kTagBytes> EncodeTag(uint64_t tag) {
  std::array<unsigned char, kTagBytes> bytes = {};
  for (size_t i = 0; i < kTagBytes; ++i) bytes[i] = static_cast<unsigned char>(tag >> (8 * i));
  return bytes;
}

uint64_t DecodeTag(const std::array<unsigned char, kTagBytes>& bytes) {
  uint64_t tag = 0;
  for (size_t i = 0; i < kTagBytes; ++i) tag |= uint64_t{bytes[i]} << (8 * i);
  return tag;
}

absl::StatusOr<IoState> SendError(int error) {
  switch (error) {
    case EAGAIN:
      return IoState::kWouldBlock;
    case EPIPE:
    case ECONNRESET:
    case ENOTCONN:
      return IoState::kClosed;
    case EBADF:
      return absl::InvalidArgumentError("cannot send a descriptor that is not open");
    case ETOOMANYREFS:
    case ENOBUFS:
    case ENOMEM:
      return absl::ResourceExhaustedError("too many descriptors in flight, or no memory");
    default:
      return absl::InternalError(absl::ErrnoToStatus(error, "cannot send a descriptor").message());
  }
}

// Takes over every descriptor that the kernel installed for `header`. Only SCM_RIGHTS count as
// sent; a pidfd is closed.
std::vector<OwnedFd> TakeDescriptors(struct msghdr* header) {
  std::vector<OwnedFd> sent;
  for (cmsghdr* c = CMSG_FIRSTHDR(header); c != nullptr; c = CMSG_NXTHDR(header, c)) {
    if (c->cmsg_level != SOL_SOCKET) continue;
    if (c->cmsg_type != SCM_RIGHTS && c->cmsg_type != kScmPidfd) continue;
    const size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int raw = -1;
      std::memcpy(&raw, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
      OwnedFd fd(raw);
      if (c->cmsg_type == SCM_RIGHTS) sent.push_back(std::move(fd));
    }
  }
  return sent;
}

}  // namespace

absl::StatusOr<IoState> SendTaggedFd(int socket, uint64_t tag, int fd) {
  if (fd < 0) return absl::InvalidArgumentError("cannot send a descriptor that is not open");
  std::array<unsigned char, kTagBytes> bytes = EncodeTag(tag);
  iovec data = {bytes.data(), bytes.size()};
  alignas(cmsghdr) std::array<unsigned char, CMSG_SPACE(sizeof(int))> control = {};
  msghdr message = {};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(rights), &fd, sizeof(int));

  ssize_t sent = 0;
  do {
    sent = sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  } while (sent < 0 && errno == EINTR);
  if (sent < 0) return SendError(errno);
  // Linux puts so few bytes into one buffer: all or nothing.
  if (static_cast<size_t>(sent) != bytes.size()) {
    return absl::InternalError("a descriptor's tag went out in part");
  }
  return IoState::kOk;
}

absl::StatusOr<FdReceiveResult> TaggedFdReceiver::Receive() {
  if (!broken_.ok()) return broken_;
  absl::StatusOr<FdReceiveResult> result = ReceiveMore();
  if (!result.ok()) {
    broken_ = result.status();
    fd_.Reset();
  }
  return result;
}

absl::StatusOr<FdReceiveResult> TaggedFdReceiver::ReceiveMore() {
  while (received_ < tag_bytes_.size()) {
    // Never more than this message's bytes: those of the next one, and its descriptor, stay put.
    iovec data = {tag_bytes_.data() + received_, tag_bytes_.size() - received_};
    alignas(cmsghdr) std::array<unsigned char, kControlBytesRoom> control = {};
    msghdr message = {};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t bytes = recvmsg(socket_, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0 && errno == EAGAIN) return FdReceiveResult{};
    if (bytes < 0 && errno != ECONNRESET) {
      return absl::InternalError(absl::ErrnoToStatus(errno, "cannot receive").message());
    }
    if (bytes <= 0) {
      if (received_ > 0) return absl::DataLossError("the fds channel ended inside a message");
      return FdReceiveResult{std::nullopt, IoState::kClosed};
    }
    std::vector<OwnedFd> fds = TakeDescriptors(&message);
    if ((message.msg_flags & MSG_CTRUNC) != 0) {
      return absl::ResourceExhaustedError(
          "descriptors were cut off: too many in one message, or none left in this process");
    }
    if (absl::Status status = Accept(static_cast<size_t>(bytes), absl::MakeSpan(fds));
        !status.ok()) {
      return status;
    }
  }
  received_ = 0;
  return FdReceiveResult{TaggedFd{DecodeTag(tag_bytes_), std::move(fd_)}, IoState::kOk};
}

// A piece of a message came in. The descriptor comes with the first piece, or the message has none.
absl::Status TaggedFdReceiver::Accept(size_t bytes, absl::Span<OwnedFd> fds) {
  const size_t expected = received_ == 0 ? 1 : 0;
  if (fds.size() < expected) {
    return absl::InvalidArgumentError("a message on the fds channel without a descriptor");
  }
  if (fds.size() > expected) {
    return absl::InvalidArgumentError("a message on the fds channel with more than one descriptor");
  }
  if (expected == 1) fd_ = std::move(fds.front());
  received_ += bytes;
  return absl::OkStatus();
}

}  // namespace superfluid
