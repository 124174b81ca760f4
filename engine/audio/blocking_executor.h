#ifndef SUPERFLUID_ENGINE_AUDIO_BLOCKING_EXECUTOR_H_
#define SUPERFLUID_ENGINE_AUDIO_BLOCKING_EXECUTOR_H_

#include <functional>

#include "absl/status/status.h"

namespace superfluid {

// Runs work that may block for long, such as reading a file on a slow or hung mount.
//
// Threads: any may call; tasks run one at a time each, several side by side.
class BlockingExecutor {
 public:
  using Task = std::function<void()>;

  virtual ~BlockingExecutor() = default;

  // Runs `task`, the first of a piece of work, as soon as there is a thread for it. Errors:
  // ResourceExhausted when too much waits already or no thread can be made; `task` is dropped.
  virtual absl::Status Begin(Task task) = 0;

  // Runs `task`, a later one of work that began. Never refused.
  virtual void Continue(Task task) = 0;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_AUDIO_BLOCKING_EXECUTOR_H_
