#ifndef SUPERFLUID_ACTORS_STATE_OPS_PIECE_RUNNER_H_
#define SUPERFLUID_ACTORS_STATE_OPS_PIECE_RUNNER_H_

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "absl/status/status.h"
#include "engine/audio/blocking_executor.h"

namespace superfluid {

// Runs long pieces of work of one link on threads that may block, a bounded part at a time.
//
//   Begin, Continue --> waiting --a thread is free--> a part runs --more--> behind the others
//                                                          \__ done --> gone
//
// Invariants:
//  1. At most `at_once` parts run at a time: the rest of the process keeps its processors.
//  2. Those that wait take turns, so that a small piece of work does not wait for a large one.
//
// Threads: Begin and Continue one; parts run on the executor's. Lifetime: shared with the tasks
// that it began; work that waits or runs is finished whether anybody else holds the runner or not.
class PieceRunner : public std::enable_shared_from_this<PieceRunner> {
 public:
  // Does one part; returns whether there is more. Holds no actor.
  using Work = std::function<bool()>;

  PieceRunner(std::shared_ptr<BlockingExecutor> executor, size_t at_once)
      : executor_(std::move(executor)), at_once_(at_once) {}

  // Runs `work` until it returns false. Errors: those of BlockingExecutor::Begin, where no thread
  // runs a part of this runner either; `work` is dropped then.
  absl::Status Begin(Work work);
  // The same for a later piece of work that began. Never refused.
  void Continue(Work work);

 private:
  // Returns whether a thread has to be had for it.
  bool Push(Work work);
  BlockingExecutor::Task RunPartLater();
  void RunPart();

  const std::shared_ptr<BlockingExecutor> executor_;
  const size_t at_once_;
  std::mutex mutex_;
  std::deque<Work> waiting_;  // this and below: guarded by mutex_
  size_t threads_ = 0;        // that run a part, or will
};

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_STATE_OPS_PIECE_RUNNER_H_
