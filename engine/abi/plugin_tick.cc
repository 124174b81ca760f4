#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/abi/plugin_generation.h"
#include "engine/abi/tick_results.h"

// Of PluginGeneration: ticks.
namespace superfluid {
namespace {

// Closes the port on every way out of a tick.
class OpenPort {
 public:
  OpenPort(TickPort& port, const CancelToken& token, TickHost& host, std::vector<PortLane> lanes,
           bool emits)
      : port_(port) {
    port_.Open(token, host, std::move(lanes), emits);
  }
  OpenPort(const OpenPort&) = delete;
  OpenPort& operator=(const OpenPort&) = delete;
  ~OpenPort() { port_.Close(); }

 private:
  TickPort& port_;
};

LaneResult Refused(const LaneWork& lane, absl::Status why) {
  LaneResult result;
  result.status = std::move(why);
  result.finish = FinishReason::kError;
  result.sequence = lane.sequence;
  return result;
}

std::vector<PortLane> PortLanes(const Tick& tick, const std::vector<size_t>& lanes) {
  std::vector<PortLane> port_lanes;
  port_lanes.reserve(lanes.size());
  for (const size_t lane : lanes) port_lanes.push_back({lane, DrawLimit(tick.lanes[lane])});
  return port_lanes;
}

}  // namespace

absl::Status PluginGeneration::CheckLane(const LaneWork& lane) const {
  absl::Status status;
  const auto check = [&](const HandleLedger& ledger, uint64_t handle) {
    if (status.ok() && handle != 0) status = ledger.CheckLive(handle);
  };
  check(sequences_, static_cast<uint64_t>(lane.sequence));
  check(grammars_, static_cast<uint64_t>(lane.grammar));
  check(biases_, static_cast<uint64_t>(lane.logit_bias));
  const bool built_in = std::any_of(built_in_.begin(), built_in_.end(),
                                    [&](const auto& known) { return known.slot == lane.strategy; });
  if (!built_in) check(strategies_, static_cast<uint64_t>(lane.strategy));
  for (const absl::Span<const Token> tokens : {lane.input, lane.drafts, lane.stop_tokens}) {
    if (status.ok()) status = CheckTokens(tokens);
  }
  return status;
}

absl::StatusOr<std::vector<LaneResult>> PluginGeneration::RunTick(const Tick& tick,
                                                                  const CancelToken& token,
                                                                  TickHost& host) {
  CheckThread("run_tick");
  if (functions().run_tick == nullptr || max_lanes_ == 0) {
    return Generation::RunTick(tick, token, host);
  }
  if (tick.lanes.size() > static_cast<size_t>(max_lanes_)) {
    return absl::InvalidArgumentError(
        absl::StrCat("a tick of ", tick.lanes.size(), " lanes; the engine takes ", max_lanes_));
  }
  std::vector<LaneResult> results(tick.lanes.size());
  std::vector<size_t> lanes;  // those that the plug-in gets to see
  for (size_t i = 0; i < tick.lanes.size(); ++i) {
    absl::Status status = CheckLane(tick.lanes[i]);
    if (status.ok()) {
      lanes.push_back(i);
    } else {
      results[i] = Refused(tick.lanes[i], std::move(status));
    }
  }
  if (lanes.empty()) return results;
  if (absl::Status status = RunLanes(tick, lanes, token, host); !status.ok()) return status;
  if (absl::Status status = TakeResults(tick, lanes, token, results); !status.ok()) return status;
  return results;
}

absl::Status PluginGeneration::RunLanes(const Tick& tick, const std::vector<size_t>& lanes,
                                        const CancelToken& token, TickHost& host) {
  sfl_tick laid = frame_.Lay(tick, lanes);
  tick_port_.Attach(laid);
  TickPort& port = tick_port_.port();
  const OpenPort open(port, token, host, PortLanes(tick, lanes), tick.partial_emits);
  absl::Status status = InPlugin("run_tick", [&](sfl_error* error) {
    return functions().run_tick(plugin_.engine, &laid, error);
  });
  if (!port.host_failure().ok()) return port.host_failure();
  if (absl::Status guards = frame_.CheckGuards(); !guards.ok()) return guards;
  if (absl::IsCancelled(status) && !token.cancelled()) {
    return BrokenRule("run_tick", "cancelled what nobody cancelled");
  }
  return status;
}

absl::Status PluginGeneration::TakeResults(const Tick& tick, const std::vector<size_t>& lanes,
                                           const CancelToken& token,
                                           std::vector<LaneResult>& results) {
  const TickRules rules = {frame_, tick_port_.port(), token, sequences_, vocab_size_};
  for (size_t i = 0; i < lanes.size(); ++i) {
    absl::StatusOr<LaneResult> result = TakeLaneResult(rules, tick.lanes[lanes[i]], i);
    if (!result.ok()) return result.status();
    results[lanes[i]] = *std::move(result);
  }
  // Only now, when all of the tick is known to be sound.
  for (const size_t lane : lanes) {
    if (!results[lane].status.ok() || tick.lanes[lane].sequence != SequenceHandle{}) continue;
    const auto made = static_cast<uint64_t>(results[lane].sequence);
    if (made == 0) continue;  // stopped before anything was made of it
    if (absl::Status status = sequences_.Add("run_tick", made); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace superfluid
