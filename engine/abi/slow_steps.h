#ifndef SUPERFLUID_ENGINE_ABI_SLOW_STEPS_H_
#define SUPERFLUID_ENGINE_ABI_SLOW_STEPS_H_

#include <functional>

#include "absl/time/time.h"
#include "engine/engine.h"

namespace superfluid {

// Notices an engine whose steps take longer than it says, so that a cancel does, too. A busy
// machine can make any step long; one of several is no finding.
//
// Threads: one.
class SlowSteps {
 public:
  // `said` is the engine's longest step. `report` is called once at most; it may be null.
  SlowSteps(absl::Duration said, std::function<void(const SlowStep&)> report);

  // Counts a step that took so long, and whether the engine asked during it whether to stop.
  void Add(absl::Duration took, bool asked_whether_cancelled);

 private:
  absl::Duration said_;
  std::function<void(const SlowStep&)> report_;  // null once called
  int points_ = 0;                               // for slow steps, less those for others
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_ABI_SLOW_STEPS_H_
