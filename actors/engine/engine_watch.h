#ifndef SUPERFLUID_ACTORS_ENGINE_ENGINE_WATCH_H_
#define SUPERFLUID_ACTORS_ENGINE_ENGINE_WATCH_H_

#include <cstdint>
#include <functional>
#include <utility>

#include "actors/messages/engine_progress.h"

namespace superfluid {

// Shows the watchdog that the engine is being called, while it exists. No call of the engine's is
// made outside of one of these or of BeginStep and EndStep, but while it loads and ends (which have
// limits of their own) and for what it only tells (info, generation): what hangs there would not be
// seen.
// They do not nest.
//
// `clock` returns the actor system's monotonic nanoseconds. Threads: the engine's.

// A micro-step: a piece of somebody's work.
class EngineStep {
 public:
  EngineStep(EngineProgress& progress, std::function<int64_t()> clock)
      : progress_(progress), clock_(std::move(clock)) {
    progress_.BeginStep(clock_());
  }
  EngineStep(const EngineStep&) = delete;
  EngineStep& operator=(const EngineStep&) = delete;
  ~EngineStep() { progress_.EndStep(clock_()); }

 private:
  EngineProgress& progress_;
  const std::function<int64_t()> clock_;
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
  EngineProgress& progress_;
  const std::function<int64_t()> clock_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_ENGINE_ENGINE_WATCH_H_
