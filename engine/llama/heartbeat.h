#ifndef SUPERFLUID_ENGINE_LLAMA_HEARTBEAT_H_
#define SUPERFLUID_ENGINE_LLAMA_HEARTBEAT_H_

#include <chrono>

#include "engine/call_control.h"

namespace superfluid {

// Passes signs of life on, the first at once and then one each kPeriod at most: the library calls
// back far more often than anybody looks. Threads: one.
class Heartbeat {
 public:
  static constexpr std::chrono::milliseconds kPeriod{20};

  // `control` must outlive it.
  explicit Heartbeat(const CallControl& control) : control_(control) {}

  void Beat() {
    const Clock::time_point now = Clock::now();
    if (now - last_ < kPeriod) return;
    last_ = now;
    control_.Progress();
  }

 private:
  using Clock = std::chrono::steady_clock;

  const CallControl& control_;
  Clock::time_point last_;  // long ago
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_LLAMA_HEARTBEAT_H_
