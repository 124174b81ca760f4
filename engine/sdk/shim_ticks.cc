#include <vector>

#include "engine/sdk/host_views.h"
#include "engine/sdk/shim_types.h"

// Of the shim: ticks.
namespace superfluid::sdk {
namespace {

LaneWork LaneFromHost(const sfl_lane& raw) {
  LaneWork lane;
  lane.tag = LaneTag{raw.tag};
  lane.sequence = SequenceHandle{raw.sequence};
  lane.kind = static_cast<LaneKind>(raw.kind);
  lane.input = absl::MakeConstSpan(raw.input, raw.input_count);
  lane.max_tokens = raw.max_tokens;
  lane.sampling = {raw.temperature,        raw.top_k,        raw.top_p, raw.min_p,
                   raw.repetition_penalty, raw.sampling_seed};
  lane.grammar = GrammarHandle{raw.grammar};
  lane.logit_bias = LogitBiasHandle{raw.logit_bias};
  lane.stop_tokens = absl::MakeConstSpan(raw.stop_tokens, raw.stop_token_count);
  lane.strategy = StrategySlot{raw.strategy};
  lane.drafts = absl::MakeConstSpan(raw.drafts, raw.draft_count);
  lane.want_logits = (raw.flags & SFL_LANE_WANT_LOGITS) != 0;
  return lane;
}

// Writes what fits; the host sees from the counts what did not.
void LaneToHost(const LaneResult& result, const sfl_lane& lane, sfl_lane_result& raw) {
  raw.status = StatusToAbi(result.status, &raw.error);
  raw.finish = static_cast<uint32_t>(result.finish);
  raw.position = result.position;
  if (!result.status.ok()) return;
  raw.accepted_drafts = result.accepted_drafts;
  raw.sequence = static_cast<uint64_t>(result.sequence);
  raw.token_count = result.tokens.size();
  std::copy_n(result.tokens.begin(), std::min(result.tokens.size(), lane.token_capacity),
              lane.tokens);
  raw.logit_count = result.logits.size();
  const size_t logits = std::min(result.logits.size(), lane.logit_capacity);
  for (size_t i = 0; i < logits; ++i) {
    lane.logits[i] = {result.logits[i].token, result.logits[i].logit};
  }
}

sfl_status RunTick(sfl_engine* engine, const sfl_tick* raw, sfl_error* error) noexcept {
  return WithGeneration(engine, error, [&](Generation& generation) -> absl::Status {
    sfl_tick host = CopyIn(raw);
    std::vector<sfl_lane> host_lanes;
    std::vector<LaneWork> lanes;
    host_lanes.reserve(host.lane_count);
    lanes.reserve(host.lane_count);
    for (size_t i = 0; i < host.lane_count; ++i) {
      host_lanes.push_back(CopyIn(sfl_tick_lane(&host, i)));
      lanes.push_back(LaneFromHost(host_lanes.back()));
    }
    const CancelToken token(&PollTickCancel, &host);
    HostTick tick_host(host);
    const Tick tick = {host.tick_id, (host.flags & SFL_TICK_PARTIAL_EMITS) != 0, lanes};
    const auto results = generation.RunTick(tick, token, tick_host);
    if (!results.ok()) return results.status();
    if (!tick_host.status().ok()) return tick_host.status();
    if (results->size() != lanes.size()) {
      return absl::InternalError("the engine answered for more or fewer lanes than there are");
    }
    for (size_t i = 0; i < lanes.size(); ++i) {
      FillIn(sfl_tick_result(&host, i),
             [&](sfl_lane_result& result) { LaneToHost((*results)[i], host_lanes[i], result); });
    }
    return absl::OkStatus();
  });
}

}  // namespace

void AddTicks(sfl_engine_vtable& table) noexcept { table.run_tick = &RunTick; }

}  // namespace superfluid::sdk
