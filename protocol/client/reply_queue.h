#ifndef SUPERFLUID_PROTOCOL_CLIENT_REPLY_QUEUE_H_
#define SUPERFLUID_PROTOCOL_CLIENT_REPLY_QUEUE_H_

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "protocol/messages/deadline.h"
#include "protocol/messages/messages.h"

namespace superfluid::linkw {

// The answers to one request, between the thread that reads the link and whoever waits for them.
// An answer that could not be parsed is an error in its place. Thread-safe.
class ReplyQueue {
 public:
  // Holds at most `capacity` answers, at least one.
  explicit ReplyQueue(size_t capacity);

  // Adds an answer; waits for room. Returns at once, and drops it, after Close or Abandon.
  void Push(absl::StatusOr<WorkerMessage> answer);

  // Takes the oldest answer; waits for one. Errors: DeadlineExceeded; the reason given to Close,
  // once everything that came before was taken; the answer's own error.
  absl::StatusOr<WorkerMessage> Pop(Deadline deadline);

  // No more answers will come, because of `why`. The first reason stays.
  void Close(const absl::Status& why);

  // Nobody will take answers any more.
  void Abandon();

 private:
  const size_t capacity_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<absl::StatusOr<WorkerMessage>> answers_;  // guarded by mutex_
  absl::Status closed_;                                // guarded by mutex_; OK while open
  bool abandoned_ = false;                             // guarded by mutex_
};

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_PROTOCOL_CLIENT_REPLY_QUEUE_H_
