#include "shm/memory_fd_channel.h"

#include <fcntl.h>

#include <cerrno>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "shm/fd_passing.h"

namespace superfluid {
namespace {

using Callback = std::function<void()>;

void CallIfSet(const Callback& callback) {
  if (callback) callback();
}

// One direction. Callbacks are called without the lock: they may come back at once.
class FdQueue {
 public:
  explicit FdQueue(size_t capacity) : capacity_(capacity) {}

  absl::StatusOr<IoState> Push(uint64_t tag, int fd) {
    Callback ready;
    {
      std::lock_guard lock(mutex_);
      if (closed_) return IoState::kClosed;
      if (items_.size() >= capacity_) return IoState::kWouldBlock;
      OwnedFd copy(fcntl(fd, F_DUPFD_CLOEXEC, 0));
      if (!copy.valid() && errno == EBADF) {
        return absl::InvalidArgumentError("cannot send a descriptor that is not open");
      }
      if (!copy.valid()) return absl::ErrnoToStatus(errno, "cannot duplicate a descriptor");
      items_.push_back(TaggedFd{tag, std::move(copy)});
      ready = std::exchange(readable_, nullptr);
    }
    CallIfSet(ready);
    return IoState::kOk;
  }

  FdReceiveResult Pop() {
    std::lock_guard lock(mutex_);
    if (items_.empty()) {
      return {std::nullopt, closed_ ? IoState::kClosed : IoState::kWouldBlock};
    }
    FdReceiveResult result{std::move(items_.front()), IoState::kOk};
    items_.pop_front();
    return result;
  }

  void WhenReadable(Callback ready) {
    {
      std::lock_guard lock(mutex_);
      if (items_.empty() && !closed_) {
        readable_ = std::move(ready);
        return;
      }
    }
    ready();
  }

  void CloseBySender() { Close(/*drop_items=*/false); }
  void CloseByReceiver() { Close(/*drop_items=*/true); }

  void DropCallback() {
    std::lock_guard lock(mutex_);
    readable_ = nullptr;
  }

 private:
  void Close(bool drop_items) {
    std::deque<TaggedFd> dropped;
    Callback ready;
    {
      std::lock_guard lock(mutex_);
      closed_ = true;
      if (drop_items) dropped.swap(items_);
      ready = std::exchange(readable_, nullptr);
    }
    CallIfSet(ready);
  }

  const size_t capacity_;
  std::mutex mutex_;
  std::deque<TaggedFd> items_;  // this and below: guarded by mutex_
  bool closed_ = false;
  Callback readable_;
};

class MemoryFdChannel final : public FdChannel {
 public:
  MemoryFdChannel(std::shared_ptr<FdQueue> in, std::shared_ptr<FdQueue> out)
      : in_(std::move(in)), out_(std::move(out)) {}

  ~MemoryFdChannel() override {
    in_->DropCallback();
    Shutdown();
  }

  absl::StatusOr<FdReceiveResult> Receive() override { return in_->Pop(); }
  absl::StatusOr<IoState> Send(uint64_t tag, int fd) override { return out_->Push(tag, fd); }
  void WhenReadable(Callback ready) override { in_->WhenReadable(std::move(ready)); }

  void Shutdown() override {
    in_->CloseByReceiver();
    out_->CloseBySender();
  }

 private:
  const std::shared_ptr<FdQueue> in_;
  const std::shared_ptr<FdQueue> out_;
};

}  // namespace

std::pair<std::unique_ptr<FdChannel>, std::unique_ptr<FdChannel>> MakeMemoryFdChannelPair(
    size_t capacity) {
  auto forth = std::make_shared<FdQueue>(capacity);
  auto back = std::make_shared<FdQueue>(capacity);
  return {std::make_unique<MemoryFdChannel>(back, forth),
          std::make_unique<MemoryFdChannel>(forth, back)};
}

}  // namespace superfluid
