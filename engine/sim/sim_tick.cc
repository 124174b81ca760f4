#include "engine/sim/sim_tick.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/sampling/tick_check.h"
#include "engine/sim/sim_lane.h"

namespace superfluid {
namespace {

void AppendInputs(std::vector<SimLane>& lanes, const CancelToken& token) {
  for (SimLane& lane : lanes) {
    lane.Prepare();
    if (token.cancelled()) lane.Stop();
    lane.AppendInput();
  }
}

class Rounds {
 public:
  Rounds(SimWorld& world, const Tick& tick, const CancelToken& token, TickHost& host)
      : world_(world), tick_(tick), token_(token), host_(host) {}

  // One draw of every lane that is not done. False: none is left.
  bool Run(std::vector<SimLane>& lanes) {
    bool any = false;
    for (size_t i = 0; i < lanes.size(); ++i) {
      if (!lanes[i].wants_more()) continue;
      if (token_.cancelled() || host_.LaneStopped(i)) {
        lanes[i].Stop();
        continue;
      }
      Draw(i, lanes[i]);
      any = any || lanes[i].wants_more();
    }
    return any;
  }

 private:
  void Draw(size_t index, SimLane& lane) {
    const size_t before = lane.drawn().size();
    if (lane.DrawOne()) world_.clock->Spend(world_.options.token);
    if (!tick_.partial_emits || lane.drawn().size() <= before) return;
    host_.Emit(index, absl::MakeConstSpan(lane.drawn()).subspan(before));
  }

  SimWorld& world_;
  const Tick& tick_;
  const CancelToken& token_;
  TickHost& host_;
};

// Breaks the contract in the way asked for, in the first lane that there is.
void Spoil(const std::string& how, uint32_t vocab, std::vector<LaneResult>& results) {
  LaneResult& first = results.front();
  if (how == "too_many_tokens") {
    first.tokens.resize(kMaxLaneTokens + 1, 1);
  } else if (how == "bad_token") {
    first.tokens.assign(1, vocab);
  } else if (how == "zero_handle") {
    first.sequence = {};
  } else if (how == "wrong_sequence") {
    first.sequence = SequenceHandle{static_cast<uint64_t>(first.sequence) + 1'000'003};
  } else if (how == "too_many_logits") {
    first.logits.resize(kMaxLaneLogits + 1);
  } else {
    results.pop_back();
  }
}

}  // namespace

absl::StatusOr<std::vector<LaneResult>> RunSimTick(SimWorld& world, const Tick& tick,
                                                   const CancelToken& token, TickHost& host) {
  ++world.ticks;
  world.grammars.BeginTick();
  world.leases.Expire(world.Now());
  const SimGenerationFaults& faults = world.options.faults;
  world.clock->Spend(world.options.tick);
  absl::Status status =
      world.Misbehave({faults.slow_at_tick, faults.stuck_at_tick, faults.throw_at_tick,
                       faults.out_of_memory_at_tick, faults.fail_at_tick},
                      world.ticks);
  if (status.ok()) status = CheckTick(tick, kSimMaxLanes);
  if (!status.ok()) return status;
  std::vector<SimLane> lanes;
  lanes.reserve(tick.lanes.size());
  for (const LaneWork& work : tick.lanes) lanes.emplace_back(world, work);
  AppendInputs(lanes, token);
  Rounds rounds(world, tick, token, host);
  while (rounds.Run(lanes)) {
  }
  std::vector<LaneResult> results;
  results.reserve(lanes.size());
  for (SimLane& lane : lanes) results.push_back(lane.TakeResult());
  if (static_cast<SimStep>(world.ticks) == faults.wrong_at_tick) {
    Spoil(faults.wrong_result, world.options.vocab, results);
  }
  return results;
}

}  // namespace superfluid
