#ifndef SUPERFLUID_ENGINE_SAMPLING_TICK_CHECK_H_
#define SUPERFLUID_ENGINE_SAMPLING_TICK_CHECK_H_

#include <cstddef>

#include "absl/status/status.h"
#include "engine/tick.h"

namespace superfluid {

// What is the same for every engine: whether a tick, and each of its lanes, is one at all.
// Threads: any.

// InvalidArgument: no lanes, more than `max_lanes`, a tag or a sequence (other than 0) twice.
absl::Status CheckTick(const Tick& tick, size_t max_lanes);

// InvalidArgument: no such kind, a prefill that draws, more than kMaxLaneTokens, sampling
// parameters that make no sense. Handles and token ids are the engine's to check.
absl::Status CheckLane(const LaneWork& lane);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_SAMPLING_TICK_CHECK_H_
