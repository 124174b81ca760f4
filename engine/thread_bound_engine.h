#ifndef SUPERFLUID_ENGINE_THREAD_BOUND_ENGINE_H_
#define SUPERFLUID_ENGINE_THREAD_BOUND_ENGINE_H_

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <utility>

#include "engine/engine.h"

namespace superfluid {

// Holds an engine and enforces, in every build, that only the thread that made it touches it: an
// accelerator's context belongs to a thread, and a call from another one corrupts it silently.
// Any use from another thread, destruction included, aborts the process.
class ThreadBoundEngine {
 public:
  explicit ThreadBoundEngine(std::unique_ptr<Engine> engine)
      : owner_(std::this_thread::get_id()), engine_(std::move(engine)) {}
  ThreadBoundEngine(const ThreadBoundEngine&) = delete;
  ThreadBoundEngine& operator=(const ThreadBoundEngine&) = delete;
  ~ThreadBoundEngine() { Check(); }

  Engine* operator->() const {
    Check();
    return engine_.get();
  }

  // For work that belongs to the engine but does not go through it (destroying a job).
  void Check() const {
    if (std::this_thread::get_id() == owner_) return;
    std::fputs("fatal: the engine was used from a thread that does not own it\n", stderr);
    std::abort();
  }

 private:
  const std::thread::id owner_;
  const std::unique_ptr<Engine> engine_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_THREAD_BOUND_ENGINE_H_
