#include "protocol/transport/socket_stream.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <utility>

#include "absl/status/status.h"
#include "shm/socket_util.h"

namespace superfluid {
namespace {

// Pieces that one system call sends; a frame is two. The rest goes with the next Write.
constexpr size_t kMaxPieces = 64;

absl::Status SocketError(int error, const char* what) {
  return absl::InternalError(absl::ErrnoToStatus(error, what).message());
}

class SocketStream final : public ByteStream {
 public:
  SocketStream(OwnedFd socket, std::string received, SharedFdWatch watch)
      : socket_(std::move(socket)), received_(std::move(received)), watch_(std::move(watch)) {}
  ~SocketStream() override {
    if (watch_ != nullptr) watch_->Stop();
  }

  absl::StatusOr<IoResult> Read(absl::Span<char> out) override {
    if (out.empty()) return absl::InvalidArgumentError("no room to read into");
    // What the kernel still holds is not wanted any more.
    if (shut_down_) return IoResult{0, IoState::kClosed};
    if (taken_ < received_.size()) return TakeReceived(out);
    ssize_t bytes = 0;
    do {
      bytes = recv(socket_.get(), out.data(), out.size(), MSG_DONTWAIT);
    } while (bytes < 0 && errno == EINTR);
    if (bytes > 0) return IoResult{static_cast<size_t>(bytes), IoState::kOk};
    if (bytes == 0 || errno == ECONNRESET) return IoResult{0, IoState::kClosed};
    if (errno == EAGAIN) return IoResult{0, IoState::kWouldBlock};
    return SocketError(errno, "cannot read from the socket");
  }

  absl::StatusOr<IoResult> Write(absl::Span<const std::string_view> pieces) override {
    if (shut_down_) return IoResult{0, IoState::kClosed};
    std::array<iovec, kMaxPieces> data = {};
    msghdr message = {};
    message.msg_iov = data.data();
    message.msg_iovlen = Gather(pieces, data);
    if (message.msg_iovlen == 0) return IoResult{0, IoState::kOk};
    ssize_t bytes = 0;
    do {
      bytes = sendmsg(socket_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    } while (bytes < 0 && errno == EINTR);
    if (bytes >= 0) return IoResult{static_cast<size_t>(bytes), IoState::kOk};
    if (errno == EPIPE || errno == ECONNRESET) return IoResult{0, IoState::kClosed};
    if (errno == EAGAIN || errno == ENOBUFS) return IoResult{0, IoState::kWouldBlock};
    return SocketError(errno, "cannot write to the socket");
  }

  void WhenReadable(std::function<void()> ready) override {
    if (taken_ == received_.size()) {
      if (watch_ != nullptr) return watch_->WhenReadable(std::move(ready));
      WaitForSocket(socket_.get(), POLLIN, absl::InfiniteDuration());
    }
    ready();
  }

  void WhenWritable(std::function<void()> ready, absl::Duration patience) override {
    if (watch_ != nullptr) return watch_->WhenWritable(std::move(ready));
    WaitForSocket(socket_.get(), POLLOUT, patience);
    ready();
  }

  void WhenGone(std::function<void()> gone) override {
    if (watch_ != nullptr) watch_->WhenGone(std::move(gone));
  }

  void Shutdown() override {
    shut_down_ = true;
    shutdown(socket_.get(), SHUT_RDWR);
  }

  std::optional<uid_t> peer_uid() const override {
    ucred peer = {};
    socklen_t length = sizeof(peer);
    if (getsockopt(socket_.get(), SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return {};
    // Sockets that are not Unix sockets answer too, with no process and no user.
    if (peer.uid == static_cast<uid_t>(-1)) return {};
    return peer.uid;
  }

 private:
  IoResult TakeReceived(absl::Span<char> out) {
    const size_t bytes = received_.copy(out.data(), out.size(), taken_);
    taken_ += bytes;
    return {bytes, IoState::kOk};
  }

  // Fills `data` with the pieces that hold something and returns how many it took.
  static size_t Gather(absl::Span<const std::string_view> pieces,
                       std::array<iovec, kMaxPieces>& data) {
    size_t count = 0;
    for (std::string_view piece : pieces) {
      if (piece.empty()) continue;
      if (count == data.size()) break;
      // The kernel only reads from it.
      // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast)
      data[count++] = {const_cast<char*>(piece.data()), piece.size()};
    }
    return count;
  }

  const OwnedFd socket_;
  const std::string received_;  // before this stream was made; for the reading thread
  const SharedFdWatch watch_;
  size_t taken_ = 0;
  std::atomic<bool> shut_down_ = false;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ByteStream>> MakeSocketStream(OwnedFd socket, std::string received,
                                                             SharedFdWatch watch) {
  if (absl::Status status = PrepareStreamSocket(socket.get()); !status.ok()) {
    if (watch != nullptr) watch->Stop();
    return status;
  }
  return std::make_unique<SocketStream>(std::move(socket), std::move(received), std::move(watch));
}

}  // namespace superfluid
