#ifndef SUPERFLUID_PROTOCOL_CLIENT_REPLY_ROUTER_H_
#define SUPERFLUID_PROTOCOL_CLIENT_REPLY_ROUTER_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "absl/status/status.h"
#include "protocol/client/reply_queue.h"
#include "protocol/messages/deadline.h"

namespace superfluid::linkw {

// Who waits for the answers to which request. Thread-safe.
class ReplyRouter {
 public:
  // `capacity`: of each request's queue.
  explicit ReplyRouter(size_t capacity) : capacity_(capacity) {}

  // From now on answers to `request_seq` go to the queue returned, which is closed already if the
  // router is.
  std::shared_ptr<ReplyQueue> Open(uint64_t request_seq);

  // Nobody waits for `request_seq` any more: its queue is abandoned. Does nothing if it is unknown.
  void Forget(uint64_t request_seq);

  // nullptr: nobody waits, for instance because the wait timed out.
  std::shared_ptr<ReplyQueue> Find(uint64_t request_seq) const;

  // The link ended: closes every queue, those to come included. The first reason stays.
  void Close(const absl::Status& why);

  // Waits until Close was called, but no longer than until `deadline`.
  void AwaitClosed(Deadline deadline) const;

  // OK, or the reason given to Close.
  absl::Status status() const;

 private:
  const size_t capacity_;
  mutable std::mutex mutex_;
  mutable std::condition_variable was_closed_;
  std::unordered_map<uint64_t, std::shared_ptr<ReplyQueue>> queues_;  // guarded by mutex_
  absl::Status closed_;                                               // guarded by mutex_
};

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_PROTOCOL_CLIENT_REPLY_ROUTER_H_
