#ifndef SUPERFLUID_ENGINE_ABI_TICK_RESULTS_H_
#define SUPERFLUID_ENGINE_ABI_TICK_RESULTS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/abi/handle_ledger.h"
#include "engine/abi/tick_frame.h"
#include "engine/abi/tick_port.h"
#include "engine/cancel_token.h"
#include "engine/tick.h"

namespace superfluid {

// What the answers of a tick are held against.
struct TickRules {
  const TickFrame& frame;
  const TickPort& port;
  const CancelToken& token;
  const HandleLedger& sequences;
  uint32_t vocab_size = 0;
};

// Copies what a plug-in answered for the frame's lane `i`, which is `work`. Internal, with the rule
// in its text, if it breaks one of sfl_lane_result or contradicts what was emitted. A lane that
// failed by the rules is a result with a status.
absl::StatusOr<LaneResult> TakeLaneResult(const TickRules& rules, const LaneWork& work, size_t i);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_ABI_TICK_RESULTS_H_
