#ifndef SUPERFLUID_TOOLS_SUPERFLUIDD_NET_IO_LOOP_H_
#define SUPERFLUID_TOOLS_SUPERFLUIDD_NET_IO_LOOP_H_

#include <functional>
#include <memory>

#include "absl/time/time.h"

namespace superfluid::daemon {

// A timer of the loop. Used on the loop's thread only. Destroying it cancels it.
class LoopTimer {
 public:
  virtual ~LoopTimer() = default;
  // Calls `due` once after `delay`, in place of an earlier call that did not come yet.
  virtual void Set(absl::Duration delay, std::function<void()> due) = 0;
  // From its return on the call does not come.
  virtual void Cancel() = 0;
};

// The one thread on which sockets are served, as sessions see it. In tests time is virtual.
class IoLoop {
 public:
  virtual ~IoLoop() = default;
  // Runs `work` on the loop's thread, in the order of the calls. Any thread; never blocks. Work
  // that is left when the loop ends is dropped.
  virtual void Post(std::function<void()> work) = 0;
  virtual std::unique_ptr<LoopTimer> MakeTimer() = 0;
  // Returns the time on a clock that nobody sets.
  virtual absl::Duration Now() const = 0;
};

}  // namespace superfluid::daemon

#endif  // SUPERFLUID_TOOLS_SUPERFLUIDD_NET_IO_LOOP_H_
