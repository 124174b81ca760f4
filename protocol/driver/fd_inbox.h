#ifndef SUPERFLUID_PROTOCOL_DRIVER_FD_INBOX_H_
#define SUPERFLUID_PROTOCOL_DRIVER_FD_INBOX_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "protocol/messages/deadline.h"
#include "shm/fd_channel.h"
#include "shm/owned_fd.h"

namespace superfluid::linkw {

// The descriptors that a worker sent, until somebody asks for them by tag: the two sockets of a
// link are not ordered with each other. Keeps the newest `kCapacity`; what is pushed out is closed.
//
// Threads: Take from any; one of its own receives. Lifetime: `channel` must outlive it, and is shut
// down by the destructor, which nothing else could wake.
class FdInbox {
 public:
  static constexpr size_t kCapacity = 64;

  // `channel` must wait by blocking, as sockets do.
  explicit FdInbox(FdChannel& channel);
  FdInbox(const FdInbox&) = delete;
  FdInbox& operator=(const FdInbox&) = delete;
  ~FdInbox();

  // The oldest descriptor with this tag; waits for it. Errors: DeadlineExceeded, kLinkClosed (the
  // channel ended and it is not among what came before), the channel's own.
  absl::StatusOr<OwnedFd> Take(uint64_t tag, Deadline deadline);

 private:
  void Receive();
  void Keep(TaggedFd item);
  std::deque<TaggedFd>::iterator Find(uint64_t tag);  // under mutex_

  FdChannel& channel_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<TaggedFd> waiting_;  // guarded by mutex_; oldest first
  absl::Status ended_;            // guarded by mutex_; OK while the channel is open
  std::thread receiver_;
};

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_PROTOCOL_DRIVER_FD_INBOX_H_
