#ifndef SUPERFLUID_ENGINE_SIM_SIM_CLOCK_H_
#define SUPERFLUID_ENGINE_SIM_SIM_CLOCK_H_

#include <memory>

#include "absl/time/time.h"

namespace superfluid {

// What the sim engine's work costs. The default spends real time; a simulation advances its own
// clock instead, so that hours of engine time take none.
//
// Threads: the engine's thread; an implementation may be released from another one. Lifetime:
// shared by the engine and whoever drives it.
class SimClock {
 public:
  virtual ~SimClock() = default;

  // Lets `work` go by, as a step that computes would.
  virtual void Spend(absl::Duration work) = 0;

  // A step that hangs: returns after `limit`, or earlier if the clock's owner lets it go.
  virtual void Hang(absl::Duration limit) = 0;

  // The time by which leases expire and state jobs take their time; never goes back. By default
  // real time, whatever Spend does.
  virtual absl::Time Now() const;
};

enum class SimWork {
  kSleep,  // gives the core away, like an engine that waits for its accelerator
  kBusy,   // keeps the core, like an engine that computes on it
};

// Spends real time.
std::shared_ptr<SimClock> MakeRealSimClock(SimWork work);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_SIM_SIM_CLOCK_H_
