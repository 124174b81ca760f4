#ifndef SUPERFLUID_ENGINE_MONOTONIC_TIME_H_
#define SUPERFLUID_ENGINE_MONOTONIC_TIME_H_

#include <chrono>

#include "absl/time/time.h"

namespace superfluid {

// Returns the time since some start; never goes back, nor jumps when the clock is set. For terms
// and durations; no date. Threads: any.
inline absl::Time MonotonicTime() {
  return absl::UnixEpoch() + absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch());
}

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_MONOTONIC_TIME_H_
