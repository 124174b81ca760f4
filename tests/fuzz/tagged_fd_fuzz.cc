// What a peer does on the socket for descriptors. Each two bytes are one sending: how many bytes,
// and how many descriptors with them. However they come, none stays open that was not handed over.

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <vector>

#include "shm/fd_passing.h"
#include "shm/owned_fd.h"
#include "tests/fuzz/target.h"

namespace superfluid::fuzz {
namespace {

constexpr size_t kMostFds = 16;

ptrdiff_t OpenDescriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                       std::filesystem::directory_iterator());
}

void Send(int socket, size_t bytes, size_t fds, int passed) {
  std::array<char, 32> payload{};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kMostFds)> control{};
  iovec part = {.iov_base = payload.data(), .iov_len = bytes};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (fds > 0) {
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(sizeof(int) * fds);
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int) * fds);
    const std::vector<int> numbers(fds, passed);
    std::memcpy(CMSG_DATA(header), numbers.data(), sizeof(int) * fds);
  }
  // A full socket or a receiver that shut down: nothing was passed.
  static_cast<void>(sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL));
}

// Takes what there is. False: nothing will come any more.
bool ReceiveAll(TaggedFdReceiver& receiver) {
  while (true) {
    const auto got = receiver.Receive();
    if (!got.ok()) {
      Require(!got.status().message().empty());
      const auto again = receiver.Receive();
      Require(!again.ok() && again.status() == got.status());
      return false;
    }
    Require((got->state == IoState::kOk) == got->item.has_value());
    if (got->state == IoState::kClosed) return false;
    if (got->state != IoState::kOk) return true;
    Require((fcntl(got->item->fd.get(), F_GETFD) & FD_CLOEXEC) != 0);
  }
}

void Play(std::string_view bytes) {
  std::array<int, 2> ends{};
  Require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) == 0);
  OwnedFd ours(ends[0]);
  OwnedFd peers(ends[1]);
  const OwnedFd passed(open("/dev/null", O_RDONLY | O_CLOEXEC));
  TaggedFdReceiver receiver(ours.get());
  for (size_t i = 0; i + 1 < bytes.size() && i < 64; i += 2) {
    const auto count = static_cast<unsigned char>(bytes[i]);
    const auto fds = static_cast<unsigned char>(bytes[i + 1]);
    Send(peers.get(), 1 + count % 24, fds % (kMostFds + 1), passed.get());
    if ((count & 0x80) == 0 && !ReceiveAll(receiver)) return;
  }
  peers = OwnedFd();
  ReceiveAll(receiver);
}

}  // namespace

void FuzzOne(std::string_view bytes) {
  const ptrdiff_t before = OpenDescriptors();
  Play(bytes);
  Require(OpenDescriptors() == before);
}

}  // namespace superfluid::fuzz
