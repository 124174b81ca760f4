#ifndef SUPERFLUID_ENGINE_SIM_SIM_TICK_H_
#define SUPERFLUID_ENGINE_SIM_SIM_TICK_H_

#include <vector>

#include "absl/status/statusor.h"
#include "engine/cancel_token.h"
#include "engine/sim/sim_world.h"
#include "engine/tick.h"

namespace superfluid {

inline constexpr size_t kSimMaxLanes = 256;

// As Generation::RunTick. First every lane's input is appended; then lanes draw in rounds, one
// token each, so that they interleave; between two draws the lane's stop and the tick's token are
// looked at. A lane whose input was not appended yet when the token was set is left as it was.
//
// A tick costs tick_us, and each pass over the model token_us; a pass checks all drafts.
//
// Errors: InvalidArgument (no lanes, more than kSimMaxLanes, a tag or sequence twice); Internal, if
// asked for. Throws if asked to, before anything has changed.
absl::StatusOr<std::vector<LaneResult>> RunSimTick(SimWorld& world, const Tick& tick,
                                                   const CancelToken& token, TickHost& host);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_SIM_SIM_TICK_H_
