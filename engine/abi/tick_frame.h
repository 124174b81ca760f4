#ifndef SUPERFLUID_ENGINE_ABI_TICK_FRAME_H_
#define SUPERFLUID_ENGINE_ABI_TICK_FRAME_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "engine/abi/arena.h"
#include "engine/abi/superfluid_engine.h"
#include "engine/tick.h"

namespace superfluid {

// How many tokens a lane may draw in its tick.
size_t DrawLimit(const LaneWork& lane);

// The memory of a tick as a plug-in sees it: its lanes, and guarded room for what it answers. Kept
// from tick to tick. Threads: the engine's.
class TickFrame {
 public:
  // Lays out these lanes of `tick`, which must outlive the tick. The callbacks are not filled in.
  // The result is valid until the next Lay.
  sfl_tick Lay(const Tick& tick, absl::Span<const size_t> lanes);

  // After the tick. Internal: the plug-in wrote past what it was given.
  absl::Status CheckGuards() const;

  size_t size() const { return lanes_.size(); }
  // What the plug-in answered for lane i. Pointers in the result are not to be followed; `count` is
  // at most the capacity.
  sfl_lane_result Result(size_t i) const { return results_.data(0)[i]; }
  std::string Message(size_t i) const;
  size_t token_capacity(size_t i) const { return tokens_.capacity(i); }
  size_t logit_capacity(size_t i) const { return logits_.capacity(i); }
  absl::Span<const uint32_t> Tokens(size_t i, size_t count) const {
    return absl::MakeConstSpan(tokens_.data(i), count);
  }
  absl::Span<const sfl_token_logit> Logits(size_t i, size_t count) const {
    return absl::MakeConstSpan(logits_.data(i), count);
  }

 private:
  void CutRoom(const Tick& tick, absl::Span<const size_t> lanes);
  sfl_lane Lane(const LaneWork& work, size_t i);

  std::vector<sfl_lane> lanes_;
  std::vector<size_t> capacities_;
  Arena<sfl_lane_result> results_;
  Arena<uint32_t> tokens_;
  Arena<sfl_token_logit> logits_;
  Arena<char> messages_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_ABI_TICK_FRAME_H_
