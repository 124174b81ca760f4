#include "shm/socket_fd_channel.h"

#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "shm/fd_passing.h"
#include "shm/socket_util.h"

namespace superfluid {
namespace {

class SocketFdChannel final : public FdChannel {
 public:
  SocketFdChannel(OwnedFd socket, SharedFdWatch watch)
      : socket_(std::move(socket)), receiver_(socket_.get()), watch_(std::move(watch)) {}
  ~SocketFdChannel() override {
    if (watch_ != nullptr) watch_->Stop();
  }

  absl::StatusOr<FdReceiveResult> Receive() override {
    // What the kernel still holds is not wanted any more.
    if (shut_down_) return FdReceiveResult{std::nullopt, IoState::kClosed};
    return receiver_.Receive();
  }

  absl::StatusOr<IoState> Send(uint64_t tag, int fd) override {
    if (shut_down_) return IoState::kClosed;
    return SendTaggedFd(socket_.get(), tag, fd);
  }

  void WhenReadable(std::function<void()> ready) override {
    if (watch_ != nullptr) return watch_->WhenReadable(std::move(ready));
    WaitForSocket(socket_.get(), POLLIN, absl::InfiniteDuration());
    ready();
  }

  void Shutdown() override {
    shut_down_ = true;
    shutdown(socket_.get(), SHUT_RDWR);
  }

 private:
  const OwnedFd socket_;
  TaggedFdReceiver receiver_;
  const SharedFdWatch watch_;
  std::atomic<bool> shut_down_ = false;
};

}  // namespace

absl::StatusOr<std::unique_ptr<FdChannel>> MakeSocketFdChannel(OwnedFd socket,
                                                               SharedFdWatch watch) {
  if (absl::Status status = PrepareStreamSocket(socket.get()); !status.ok()) {
    if (watch != nullptr) watch->Stop();
    return status;
  }
  return std::make_unique<SocketFdChannel>(std::move(socket), std::move(watch));
}

}  // namespace superfluid
