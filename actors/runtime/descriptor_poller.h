#ifndef SUPERFLUID_ACTORS_RUNTIME_DESCRIPTOR_POLLER_H_
#define SUPERFLUID_ACTORS_RUNTIME_DESCRIPTOR_POLLER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "absl/status/statusor.h"
#include "shm/owned_fd.h"

namespace superfluid {

// A set of descriptors, of which one thread handles those that are ready.
//
// A descriptor is armed for one event at a time: what is not asked for again costs nothing, however
// long it stays ready. It is armed and removed by any thread, and the thread that sleeps on fd()
// needs no wake for that.
//
// Threads: Dispatch one; everything else any. Lifetime: what Add returned may outlive the poller.
class DescriptorPoller {
 private:
  struct Set;

 public:
  // Of EPOLLIN, EPOLLOUT, EPOLLHUP, EPOLLERR. Called by Dispatch.
  using Handler = std::function<void(uint32_t events)>;

  // One descriptor of the set; destroying it takes the descriptor out.
  // Lifetime: ends before its descriptor is closed.
  class Entry {
   public:
    Entry(std::shared_ptr<Set> set, int fd, uint64_t id) : set_(std::move(set)), fd_(fd), id_(id) {}
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;
    ~Entry();

    // Has the handler called once when one of `events` holds, or when the descriptor has failed or
    // hung up. In place of those asked for before; 0: none (but it may still hear of the end).
    void Arm(uint32_t events);

   private:
    const std::shared_ptr<Set> set_;
    const int fd_;
    const uint64_t id_;
  };

  DescriptorPoller();

  // Adds an open descriptor, not armed. `handler` must not keep the entry alive. ResourceExhausted
  // if the system has no room for it, InvalidArgument if it cannot be polled (a file).
  absl::StatusOr<std::unique_ptr<Entry>> Add(int fd, Handler handler);

  // Readable while something is ready.
  int fd() const;

  // Calls the handlers of what is ready, without waiting.
  void Dispatch();

 private:
  const std::shared_ptr<Set> set_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_RUNTIME_DESCRIPTOR_POLLER_H_
