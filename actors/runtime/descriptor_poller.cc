#include "actors/runtime/descriptor_poller.h"

#include <sys/epoll.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "absl/status/status.h"

namespace superfluid {
namespace {

constexpr int kMaxEvents = 64;  // of one look; the rest is seen at the next

}  // namespace

struct DescriptorPoller::Set {
  OwnedFd epoll;
  std::mutex mutex;
  uint64_t last_id = 0;  // this and below: guarded by mutex
  std::map<uint64_t, std::shared_ptr<const Handler>> handlers;
};

DescriptorPoller::Entry::~Entry() {
  epoll_ctl(set_->epoll.get(), EPOLL_CTL_DEL, fd_, nullptr);
  const std::lock_guard lock(set_->mutex);
  set_->handlers.erase(id_);
}

void DescriptorPoller::Entry::Arm(uint32_t events) {
  epoll_event wanted = {};
  wanted.events = events | EPOLLONESHOT;
  wanted.data.u64 = id_;
  epoll_ctl(set_->epoll.get(), EPOLL_CTL_MOD, fd_, &wanted);
}

DescriptorPoller::DescriptorPoller() : set_(std::make_shared<Set>()) {
  set_->epoll = OwnedFd(epoll_create1(EPOLL_CLOEXEC));
  if (!set_->epoll.valid()) std::abort();  // at the start of the process, or never
}

absl::StatusOr<std::unique_ptr<DescriptorPoller::Entry>> DescriptorPoller::Add(int fd,
                                                                               Handler handler) {
  uint64_t id = 0;
  {
    const std::lock_guard lock(set_->mutex);
    id = ++set_->last_id;
    set_->handlers.emplace(id, std::make_shared<const Handler>(std::move(handler)));
  }
  epoll_event none = {};
  none.events = EPOLLONESHOT;
  none.data.u64 = id;
  if (epoll_ctl(set_->epoll.get(), EPOLL_CTL_ADD, fd, &none) == 0) {
    return std::make_unique<Entry>(set_, fd, id);
  }
  const int error = errno;
  const std::lock_guard lock(set_->mutex);
  set_->handlers.erase(id);
  if (error == ENOMEM || error == ENOSPC) {
    return absl::ResourceExhaustedError("the system watches no more descriptors");
  }
  return absl::InvalidArgumentError(
      absl::ErrnoToStatus(error, "the descriptor is no socket").message());
}

int DescriptorPoller::fd() const { return set_->epoll.get(); }

void DescriptorPoller::Dispatch() {
  std::array<epoll_event, kMaxEvents> ready = {};
  const int count = epoll_wait(set_->epoll.get(), ready.data(), kMaxEvents, 0);
  for (int i = 0; i < count; ++i) {
    std::shared_ptr<const Handler> handler;
    {
      const std::lock_guard lock(set_->mutex);
      const auto it = set_->handlers.find(ready.at(static_cast<size_t>(i)).data.u64);
      if (it == set_->handlers.end()) continue;  // removed meanwhile
      handler = it->second;
    }
    (*handler)(ready.at(static_cast<size_t>(i)).events);
  }
}

}  // namespace superfluid
