#include "engine/sampling/tick_check.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "engine/sampling/sampler.h"

namespace superfluid {

absl::Status CheckTick(const Tick& tick, size_t max_lanes) {
  if (tick.lanes.empty() || tick.lanes.size() > max_lanes) {
    return absl::InvalidArgumentError(absl::StrCat("a tick has 1 to ", max_lanes, " lanes"));
  }
  std::set<LaneTag> tags;
  std::set<SequenceHandle> sequences;
  for (const LaneWork& lane : tick.lanes) {
    if (!tags.insert(lane.tag).second) return absl::InvalidArgumentError("a lane tag comes twice");
    if (lane.sequence == SequenceHandle{}) continue;
    if (!sequences.insert(lane.sequence).second) {
      return absl::InvalidArgumentError("a sequence is in two lanes");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckLane(const LaneWork& lane) {
  if (lane.kind < LaneKind::kPrefill || lane.kind > LaneKind::kVerify) {
    return absl::InvalidArgumentError("no such kind of lane");
  }
  if (lane.kind == LaneKind::kPrefill && lane.max_tokens != 0) {
    return absl::InvalidArgumentError("a prefill lane draws nothing, so its max_tokens is 0");
  }
  if (lane.max_tokens > kMaxLaneTokens) {
    return absl::InvalidArgumentError(absl::StrCat("a lane draws at most ", kMaxLaneTokens));
  }
  return CheckSampling(lane.sampling);
}

}  // namespace superfluid
