#ifndef SUPERFLUID_ENGINE_AUDIO_BLOCKING_THREAD_POOL_H_
#define SUPERFLUID_ENGINE_AUDIO_BLOCKING_THREAD_POOL_H_

#include <cstddef>
#include <memory>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "engine/audio/blocking_executor.h"

namespace superfluid {

// Threads that are made when a task finds none idle, up to a limit, and end after a while without
// work. A task that never returns costs its thread and nobody else's.
//
// Threads: any. Lifetime: the pool may go before its threads do; what is inside of a blocked task
// is left behind.
class BlockingThreadPool : public BlockingExecutor {
 public:
  struct Options {
    size_t max_threads = 128;
    size_t max_waiting = 1024;  // tasks without a thread; Begin refuses beyond
    absl::Duration idle_time = absl::Seconds(10);
  };
  struct Load {
    size_t threads = 0;
    size_t waiting = 0;  // tasks without a thread
    size_t stuck = 0;    // threads inside one task for longer than kStuck
  };
  static constexpr absl::Duration kStuck = absl::Seconds(5);

  BlockingThreadPool();
  explicit BlockingThreadPool(const Options& options);
  ~BlockingThreadPool() override;
  BlockingThreadPool(const BlockingThreadPool&) = delete;
  BlockingThreadPool& operator=(const BlockingThreadPool&) = delete;

  absl::Status Begin(Task task) override;
  void Continue(Task task) override;

  Load load() const;

  // Drops what waits, takes nothing more, and waits until the threads have ended, for `patience` at
  // most. Returns how many have not.
  size_t Stop(absl::Duration patience);

 private:
  struct Shared;

  std::shared_ptr<Shared> shared_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_AUDIO_BLOCKING_THREAD_POOL_H_
