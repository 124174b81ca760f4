#ifndef SUPERFLUID_TOOLS_WORKER_LOG_QUEUE_H_
#define SUPERFLUID_TOOLS_WORKER_LOG_QUEUE_H_

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>

#include "absl/time/time.h"

namespace superfluid {

// Lines between the threads that log and the one that writes. Bounded: when it is full the oldest
// lines go, and are counted, so that nobody who logs ever waits for a reader.
//
// Invariants:
//  1. The lines that wait hold at most `max_bytes`.
//  2. A line that was pushed is taken once, or counted once as dropped.
//
// Threads: Push, WaitUntilWritten, Close and idle from any; Take and Written from one.
class LogQueue {
 public:
  struct Batch {
    std::string text;      // whole lines
    uint64_t dropped = 0;  // lines that were older than the first of them
  };

  explicit LogQueue(size_t max_bytes) : max_bytes_(max_bytes) {}

  // Adds a line with its newline. A line of more than `max_bytes` counts as dropped.
  void Push(std::string line);

  // Blocks until there are lines, or a count of dropped ones, and returns as many as fit into
  // `most_bytes` (one at least); nullopt when the queue is closed and empty.
  std::optional<Batch> Take(size_t most_bytes);

  // Says that the batch that was taken last is written, or given up.
  void Written();

  // Waits until all that was pushed is written, for `limit` at most; whether it is.
  bool WaitUntilWritten(absl::Duration limit);

  // Lets Take return nullopt after what is there. Later lines are dropped.
  void Close();

  // Whether all that was pushed is written. Takes no lock: a signal handler may ask.
  bool idle() const noexcept { return unwritten_.load(std::memory_order_acquire) == 0; }

 private:
  void DropOldest();

  const size_t max_bytes_;
  std::mutex mutex_;
  std::condition_variable filled_;
  std::condition_variable written_;
  // All below: guarded by mutex_.
  std::deque<std::string> lines_;
  size_t bytes_ = 0;
  uint64_t dropped_ = 0;  // since the last Take
  bool writing_ = false;
  bool closed_ = false;

  // Lines that wait, and 1 while a batch is written. Written under mutex_, read without.
  std::atomic<size_t> unwritten_ = 0;
};

}  // namespace superfluid

#endif  // SUPERFLUID_TOOLS_WORKER_LOG_QUEUE_H_
