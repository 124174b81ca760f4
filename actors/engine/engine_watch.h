#ifndef SUPERFLUID_ACTORS_ENGINE_ENGINE_WATCH_H_
#define SUPERFLUID_ACTORS_ENGINE_ENGINE_WATCH_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "actors/messages/engine_progress.h"
#include "actors/runtime/hosted_thread.h"

namespace superfluid {

// Shows the watchdog that the engine is being called, while it exists, and lets others watch the
// sockets that this thread reads while it is idle. No call of the engine's is made outside of one
// of these, but while it loads and ends (which have limits of their own) and for what it only tells
// (info, generation): what hangs there is seen as an actor's turn that does not end.
// They do not nest.
//
// `clock` returns the actor system's monotonic nanoseconds. Threads: the engine's.

// A micro-step: a piece of somebody's work.
class EngineStep {
 public:
  EngineStep(EngineProgress& progress, const std::function<int64_t()>& clock)
      : EngineStep(progress, clock, clock()) {}
  // One that begins at `begin_ns`, which is now.
  EngineStep(EngineProgress& progress, std::function<int64_t()> clock, int64_t begin_ns)
      : progress_(progress), clock_(std::move(clock)) {
    progress_.BeginStep(begin_ns);
  }
  EngineStep(const EngineStep&) = delete;
  EngineStep& operator=(const EngineStep&) = delete;
  ~EngineStep() { End(); }

  // Ends the step, if it has not ended, and returns when that was.
  int64_t End() {
    if (ended_ns_ != 0) return ended_ns_;
    ended_ns_ = clock_();
    progress_.EndStep(ended_ns_);
    thread_.reset();
    return ended_ns_;
  }

 private:
  std::optional<ThreadStep> thread_{std::in_place};
  EngineProgress& progress_;
  const std::function<int64_t()> clock_;
  int64_t ended_ns_ = 0;
};

// Any other call: asking for figures, letting go of a job or of a link's things.
class EngineVisit {
 public:
  EngineVisit(EngineProgress& progress, std::function<int64_t()> clock)
      : progress_(progress), clock_(std::move(clock)) {
    progress_.BeginVisit(clock_());
  }
  EngineVisit(const EngineVisit&) = delete;
  EngineVisit& operator=(const EngineVisit&) = delete;
  ~EngineVisit() { progress_.EndVisit(clock_()); }

 private:
  const ThreadStep thread_;
  EngineProgress& progress_;
  const std::function<int64_t()> clock_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_ENGINE_ENGINE_WATCH_H_
