#include "engine/abi/tick_frame.h"

#include <algorithm>

#include "engine/abi/plugin_call.h"
#include "engine/abi/text.h"

namespace superfluid {
namespace {

constexpr size_t kMessageBytes = 512;

uint32_t AbiKind(LaneKind kind) { return static_cast<uint32_t>(kind); }

}  // namespace

size_t DrawLimit(const LaneWork& lane) {
  const size_t limit = std::min(lane.max_tokens, kMaxLaneTokens);
  switch (lane.kind) {
    case LaneKind::kPrefill:
      return 0;
    case LaneKind::kDecode:
      return limit;
    case LaneKind::kVerify:
      break;
  }
  return std::min(limit, lane.drafts.size() + 1);
}

void TickFrame::CutRoom(const Tick& tick, absl::Span<const size_t> lanes) {
  capacities_.clear();
  for (const size_t lane : lanes) capacities_.push_back(DrawLimit(tick.lanes[lane]));
  tokens_.Cut(capacities_);
  capacities_.clear();
  for (const size_t lane : lanes) {
    capacities_.push_back(tick.lanes[lane].want_logits ? kMaxLaneLogits : 0);
  }
  logits_.Cut(capacities_);
  capacities_.assign(lanes.size(), kMessageBytes);
  messages_.Cut(capacities_);
  // One room for all: the plug-in sees an array.
  capacities_.assign(1, lanes.size());
  results_.Cut(capacities_);
}

sfl_lane TickFrame::Lane(const LaneWork& work, size_t i) {
  sfl_lane lane = {};
  lane.struct_size = sizeof lane;
  lane.kind = AbiKind(work.kind);
  lane.tag = static_cast<uint64_t>(work.tag);
  lane.sequence = static_cast<uint64_t>(work.sequence);
  lane.input = work.input.data();
  lane.input_count = work.input.size();
  lane.drafts = work.drafts.data();
  lane.draft_count = work.drafts.size();
  lane.stop_tokens = work.stop_tokens.data();
  lane.stop_token_count = work.stop_tokens.size();
  lane.max_tokens = work.max_tokens;
  lane.flags = work.want_logits ? uint32_t{SFL_LANE_WANT_LOGITS} : 0U;
  lane.grammar = static_cast<uint64_t>(work.grammar);
  lane.logit_bias = static_cast<uint64_t>(work.logit_bias);
  lane.strategy = static_cast<uint32_t>(work.strategy);
  lane.top_k = work.sampling.top_k;
  lane.temperature = work.sampling.temperature;
  lane.top_p = work.sampling.top_p;
  lane.min_p = work.sampling.min_p;
  lane.repetition_penalty = work.sampling.repetition_penalty;
  lane.sampling_seed = work.sampling.seed;
  lane.tokens = tokens_.data(i);
  lane.token_capacity = tokens_.capacity(i);
  lane.logits = logits_.data(i);
  lane.logit_capacity = logits_.capacity(i);
  return lane;
}

sfl_tick TickFrame::Lay(const Tick& tick, absl::Span<const size_t> lanes) {
  CutRoom(tick, lanes);
  lanes_.clear();
  for (size_t i = 0; i < lanes.size(); ++i) {
    lanes_.push_back(Lane(tick.lanes[lanes[i]], i));
    sfl_lane_result result = {};
    result.struct_size = sizeof result;
    result.finish = SFL_FINISH_UNSET;
    result.error = {messages_.data(i), messages_.capacity(i)};
    results_.data(0)[i] = result;
  }
  sfl_tick laid = {};
  laid.struct_size = sizeof laid;
  laid.flags = tick.partial_emits ? uint32_t{SFL_TICK_PARTIAL_EMITS} : 0U;
  laid.tick_id = tick.tick_id;
  laid.lanes = lanes_.data();
  laid.results = results_.data(0);
  laid.lane_count = lanes_.size();
  laid.lane_stride = sizeof(sfl_lane);
  laid.result_stride = sizeof(sfl_lane_result);
  return laid;
}

absl::Status TickFrame::CheckGuards() const {
  bool intact = results_.intact(0);
  for (size_t i = 0; i < lanes_.size(); ++i) {
    intact = intact && tokens_.intact(i) && logits_.intact(i) && messages_.intact(i);
  }
  return intact ? absl::OkStatus() : WrotePastTheEnd("run_tick");
}

std::string TickFrame::Message(size_t i) const {
  return ValidUtf8(TextOfArray(messages_.data(i), messages_.capacity(i)));
}

}  // namespace superfluid
