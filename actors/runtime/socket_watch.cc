#include "actors/runtime/socket_watch.h"

#include <sys/epoll.h>

#include <utility>

namespace superfluid {
namespace {

constexpr uint32_t kEnds = EPOLLHUP | EPOLLERR;

void CallIfSet(const std::function<void()>& callback) {
  if (callback) callback();
}

}  // namespace

absl::StatusOr<std::shared_ptr<SocketWatch>> SocketWatch::Make(DescriptorPoller& poller,
                                                               int socket) {
  std::shared_ptr<SocketWatch> watch(new SocketWatch(socket));
  absl::StatusOr<std::unique_ptr<DescriptorPoller::Entry>> entry =
      poller.Add(socket, [weak = watch->weak_from_this()](uint32_t events) {
        if (const std::shared_ptr<SocketWatch> alive = weak.lock()) alive->OnPolled(events);
      });
  if (!entry.ok()) return entry.status();
  const std::lock_guard lock(watch->mutex_);
  watch->entry_ = *std::move(entry);
  return watch;
}

void SocketWatch::WhenReadable(std::function<void()> ready) {
  const std::lock_guard lock(mutex_);
  if (entry_ == nullptr) return;
  readable_ = std::move(ready);
  // The second thread polls before it sleeps, and hands over before it steps.
  if (second_ != nullptr && HostedThread::Current() == second_) return;
  poller_reads_ = true;
  Arm();
}

void SocketWatch::WhenWritable(std::function<void()> ready) {
  const std::lock_guard lock(mutex_);
  if (entry_ == nullptr) return;
  writable_ = std::move(ready);
  Arm();
}

void SocketWatch::WhenGone(std::function<void()> gone) {
  const std::lock_guard lock(mutex_);
  if (entry_ == nullptr) return;
  gone_ = std::move(gone);
  if (gone_) Arm();
}

void SocketWatch::Stop() {
  std::function<void()> readable;
  std::function<void()> writable;
  std::function<void()> gone;
  const std::lock_guard lock(mutex_);
  entry_ = nullptr;
  readable.swap(readable_);
  writable.swap(writable_);
  gone.swap(gone_);
}

void SocketWatch::FloatTo(HostedThread& thread) {
  {
    const std::lock_guard lock(mutex_);
    second_ = &thread;
  }
  floats_->store(true, std::memory_order_relaxed);
  thread.Post([weak = weak_from_this(), &thread] {
    if (const std::shared_ptr<SocketWatch> alive = weak.lock()) thread.AddIdleWatch(alive);
  });
}

int SocketWatch::BeginIdle() {
  const std::lock_guard lock(mutex_);
  if (entry_ == nullptr || !readable_) return -1;
  if (std::exchange(poller_reads_, false)) Arm();
  return socket_;
}

void SocketWatch::OnReady() {
  std::function<void()> readable;
  {
    const std::lock_guard lock(mutex_);
    readable.swap(readable_);
  }
  CallIfSet(readable);
}

void SocketWatch::HandOver() {
  const std::lock_guard lock(mutex_);
  if (entry_ == nullptr || !readable_ || std::exchange(poller_reads_, true)) return;
  Arm();
}

// An event disarms the entry; what still waits is armed again.
void SocketWatch::OnPolled(uint32_t events) {
  std::function<void()> readable;
  std::function<void()> writable;
  std::function<void()> gone;
  {
    const std::lock_guard lock(mutex_);
    if (entry_ == nullptr) return;
    if ((events & (EPOLLIN | kEnds)) != 0) {
      poller_reads_ = false;
      readable.swap(readable_);
    }
    if ((events & (EPOLLOUT | kEnds)) != 0) writable.swap(writable_);
    if ((events & kEnds) != 0) gone.swap(gone_);
    if (poller_reads_ || writable_ || gone_) Arm();
  }
  CallIfSet(readable);
  CallIfSet(writable);
  CallIfSet(gone);
}

void SocketWatch::Arm() {
  entry_->Arm((poller_reads_ ? uint32_t{EPOLLIN} : 0u) | (writable_ ? uint32_t{EPOLLOUT} : 0u));
}

}  // namespace superfluid
