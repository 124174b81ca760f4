#ifndef SUPERFLUID_TOOLS_CTL_MONOTONIC_H_
#define SUPERFLUID_TOOLS_CTL_MONOTONIC_H_

#include <chrono>

#include "absl/time/time.h"

namespace superfluid::ctl {

// Now, on a clock that nobody sets: only differences mean something.
inline absl::Duration MonotonicNow() {
  return absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch());
}

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_MONOTONIC_H_
