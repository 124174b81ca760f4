#include "actors/engine/tick_run.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "actors/runtime/engine_status.h"
#include "protocol/messages/status.h"

namespace superfluid {
namespace {

constexpr size_t kMaxEmitTokens = 1024;
// 256 of them have to fit into a TICK_RESULT.
constexpr size_t kMaxLaneMessageBytes = 256;

SequenceHandle ToEngine(linkw::SequenceId id) { return SequenceHandle{static_cast<uint64_t>(id)}; }

absl::Status CheckSampling(const linkw::Sampling& sampling) {
  if (sampling.temperature < 0 || sampling.repetition_penalty < 0) {
    return absl::InvalidArgumentError("temperature and repetition_penalty are not negative");
  }
  if (sampling.top_p < 0 || sampling.top_p > 1 || sampling.min_p < 0 || sampling.min_p > 1) {
    return absl::InvalidArgumentError("top_p and min_p are in [0, 1]");
  }
  return absl::OkStatus();
}

absl::Status CheckShape(const linkw::Lane& lane) {
  if (lane.max_tokens > kMaxLaneTokens) {
    return absl::InvalidArgumentError(
        absl::StrCat("max_tokens is ", lane.max_tokens, "; at most ", kMaxLaneTokens, " a tick"));
  }
  if (lane.kind == linkw::LaneKind::kPrefill && lane.max_tokens != 0) {
    return absl::InvalidArgumentError("a prefill draws nothing: max_tokens must be 0");
  }
  if (lane.kind != linkw::LaneKind::kVerify && !lane.draft_tokens.empty()) {
    return absl::InvalidArgumentError("draft tokens belong to a verify lane");
  }
  if (lane.kind != linkw::LaneKind::kDecode && lane.strategy_slot != linkw::StrategySlot{}) {
    return absl::InvalidArgumentError("a strategy belongs to a decode lane");
  }
  if (lane.stop_slot > kControlLanes) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no stop bit ", lane.stop_slot, " (1 to ", kControlLanes, ")"));
  }
  return absl::OkStatus();
}

}  // namespace

uint32_t MostTokens(const linkw::Lane& lane) {
  switch (lane.kind) {
    case linkw::LaneKind::kPrefill:
      return 0;
    case linkw::LaneKind::kDecode:
      return lane.max_tokens;
    case linkw::LaneKind::kVerify:
      return std::min(lane.max_tokens, static_cast<uint32_t>(lane.draft_tokens.size()) + 1);
  }
  return 0;
}

TickRun::TickRun(Generation& generation, const EngineInfo& info, EngineLink& link,
                 const linkw::TickPlan& plan, const EmitSink& emit,
                 const std::function<void()>& on_progress)
    : generation_(generation),
      info_(info),
      link_(link),
      plan_(plan),
      emit_(emit),
      on_progress_(on_progress) {}

linkw::TickResult TickRun::Run(const CancelToken& token) {
  absl::Status status = CheckPlan();
  if (status.ok()) status = ReadInputs();
  if (status.ok()) status = RunLanes(token);
  if (!status.ok()) {
    return {.status = EngineStatus(status), .message = MessageOf(status), .events = {}};
  }
  linkw::TickResult result;
  result.events.tick_id = plan_.tick_id;
  for (size_t lane = 0; lane < slots_.size(); ++lane) {
    result.events.lanes.push_back(MakeEvent(lane));
  }
  if (stopped_otherwise_ && token.cancelled()) {
    const absl::Status stopped = StoppedStatus(token.reason());
    result.status = linkw::FromAbsl(stopped);
    result.message = MessageOf(stopped);
  }
  return result;
}

// What is wrong with the tick as a whole; then nothing of it runs.
absl::Status TickRun::CheckPlan() const {
  const size_t most = std::min<size_t>(static_cast<size_t>(info_.max_lanes), kControlLanes);
  if (plan_.lanes.empty() || plan_.lanes.size() > most) {
    return absl::InvalidArgumentError(
        absl::StrCat("a tick has 1 to ", most, " lanes, not ", plan_.lanes.size()));
  }
  std::vector<uint64_t> tags;
  std::vector<uint64_t> sequences;
  size_t with_logits = 0;
  for (const linkw::Lane& lane : plan_.lanes) {
    tags.push_back(static_cast<uint64_t>(lane.lane_tag));
    if (lane.sequence != linkw::SequenceId{}) {
      sequences.push_back(static_cast<uint64_t>(lane.sequence));
    }
    if (lane.want_logits) ++with_logits;
  }
  if (absl::Status twice = CheckTwice(std::move(tags), "have the tag"); !twice.ok()) return twice;
  if (absl::Status twice = CheckTwice(std::move(sequences), "work on sequence"); !twice.ok()) {
    return twice;
  }
  if (with_logits > kLogitsRing.slots) {
    return absl::InvalidArgumentError(
        absl::StrCat("at most ", kLogitsRing.slots, " lanes of a tick may want logits"));
  }
  return absl::OkStatus();
}

absl::Status TickRun::CheckTwice(std::vector<uint64_t> numbers, const char* what) {
  std::sort(numbers.begin(), numbers.end());
  const auto twice = std::adjacent_find(numbers.begin(), numbers.end());
  if (twice == numbers.end()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("two lanes ", what, " ", *twice));
}

absl::Status TickRun::ReadInputs() {
  slots_.resize(plan_.lanes.size());
  for (size_t i = 0; i < slots_.size(); ++i) {
    absl::StatusOr<std::vector<Token>> input = link_.rings->ReadTokens(plan_.lanes[i].input);
    if (!input.ok()) return input.status();
    slots_[i].input = *std::move(input);
  }
  for (size_t i = 0; i < slots_.size(); ++i) {
    slots_[i].status = CheckLane(plan_.lanes[i], slots_[i].input);
    if (!slots_[i].status.ok()) continue;
    slots_[i].result = lanes_.size();
    lanes_.push_back(i);
    tokens_in_ += slots_[i].input.size();
  }
  return absl::OkStatus();
}

absl::Status TickRun::CheckLane(const linkw::Lane& lane, absl::Span<const Token> input) const {
  absl::Status status = CheckShape(lane);
  if (status.ok()) status = CheckSampling(lane.sampling);
  if (status.ok()) status = CheckHandles(lane);
  if (status.ok()) status = CheckTokens(input);
  if (status.ok()) status = CheckTokens(lane.draft_tokens);
  if (status.ok()) status = CheckTokens(lane.stop_tokens);
  return status;
}

absl::Status TickRun::CheckHandles(const linkw::Lane& lane) const {
  const auto check = [this](HandleKind kind, uint64_t handle) {
    return handle == 0 ? absl::OkStatus() : link_.handles.Check(kind, handle);
  };
  for (const absl::Status& status : {
           check(HandleKind::kSequence, static_cast<uint64_t>(lane.sequence)),
           check(HandleKind::kGrammar, static_cast<uint64_t>(lane.grammar_handle)),
           check(HandleKind::kLogitBias, static_cast<uint64_t>(lane.logit_bias_handle)),
           check(HandleKind::kStrategy, static_cast<uint64_t>(lane.strategy_slot)),
       }) {
    if (!status.ok()) return status;
  }
  if (lane.sequence != linkw::SequenceId{}) return absl::OkStatus();
  return link_.handles.CheckRoom(HandleKind::kSequence);
}

absl::Status TickRun::CheckTokens(absl::Span<const Token> tokens) const {
  for (const Token token : tokens) {
    if (token >= info_.vocab_size) {
      return absl::InvalidArgumentError(absl::StrCat(
          "token ", token, " is outside the vocabulary (", info_.vocab_size, " tokens)"));
    }
  }
  return absl::OkStatus();
}

LaneWork TickRun::MakeWork(size_t index) const {
  const linkw::Lane& lane = plan_.lanes[index];
  LaneWork work;
  work.tag = LaneTag{static_cast<uint64_t>(lane.lane_tag)};
  work.sequence = ToEngine(lane.sequence);
  work.kind = static_cast<LaneKind>(lane.kind);
  work.input = slots_[index].input;
  work.max_tokens = lane.max_tokens;
  work.sampling = {.temperature = lane.sampling.temperature,
                   .top_k = lane.sampling.top_k,
                   .top_p = lane.sampling.top_p,
                   .min_p = lane.sampling.min_p,
                   .repetition_penalty = lane.sampling.repetition_penalty,
                   .seed = lane.sampling.seed};
  work.grammar = GrammarHandle{static_cast<uint64_t>(lane.grammar_handle)};
  work.logit_bias = LogitBiasHandle{static_cast<uint64_t>(lane.logit_bias_handle)};
  work.stop_tokens = lane.stop_tokens;
  work.strategy = StrategySlot{static_cast<uint32_t>(lane.strategy_slot)};
  work.drafts = lane.draft_tokens;
  work.want_logits = lane.want_logits;
  return work;
}

absl::Status TickRun::RunLanes(const CancelToken& token) {
  if (lanes_.empty()) return absl::OkStatus();
  std::vector<LaneWork> work;
  work.reserve(lanes_.size());
  for (const size_t lane : lanes_) work.push_back(MakeWork(lane));
  const Tick tick{.tick_id = plan_.tick_id,
                  .partial_emits = (plan_.flags & linkw::kTickFlagPartialEmits) != 0,
                  .lanes = work};
  absl::StatusOr<std::vector<LaneResult>> results = generation_.RunTick(tick, token, *this);
  if (!results.ok()) return results.status();
  if (results->size() != lanes_.size()) {
    return absl::InternalError("the engine answered for another number of lanes");
  }
  results_ = *std::move(results);
  return absl::OkStatus();
}

absl::Status TickRun::CheckResult(size_t index, const LaneResult& result) {
  const linkw::Lane& lane = plan_.lanes[index];
  if (!result.status.ok()) return result.status;
  if (result.tokens.size() > MostTokens(lane) || result.logits.size() > kMaxLaneLogits) {
    return absl::InternalError("the engine drew more than it was asked for");
  }
  if (!CheckTokens(result.tokens).ok()) {
    return absl::InternalError("the engine drew a token outside its vocabulary");
  }
  const auto sequence = static_cast<uint64_t>(result.sequence);
  if (lane.sequence == linkw::SequenceId{}) {
    const absl::Status added = link_.handles.Add(HandleKind::kSequence, sequence);
    if (!added.ok()) return added;
  } else if (result.sequence != ToEngine(lane.sequence)) {
    return absl::InternalError("the engine answered for another sequence");
  }
  if (!slots_[index].input.empty()) {
    link_.maybe_empty.erase(sequence);
  } else if (lane.sequence == linkw::SequenceId{}) {
    link_.maybe_empty.insert(sequence);
  }
  return absl::OkStatus();
}

linkw::LaneEvent TickRun::MakeEvent(size_t index) {
  const linkw::Lane& lane = plan_.lanes[index];
  absl::Status status = slots_[index].status;
  if (status.ok()) {
    const LaneResult& result = results_[slots_[index].result];
    status = CheckResult(index, result);
    if (status.ok()) return WriteResult(index, result);
  }
  linkw::LaneEvent event;
  event.lane_tag = lane.lane_tag;
  event.sequence = lane.sequence;
  event.finish_reason = linkw::FinishReason::kError;
  event.status = EngineStatus(status);
  event.message = MessageOf(status).substr(0, kMaxLaneMessageBytes);
  return event;
}

linkw::LaneEvent TickRun::WriteResult(size_t index, const LaneResult& result) {
  const linkw::Lane& lane = plan_.lanes[index];
  linkw::LaneEvent event;
  event.lane_tag = lane.lane_tag;
  event.sequence = linkw::SequenceId{static_cast<uint64_t>(result.sequence)};
  event.position = result.position;
  event.finish_reason = static_cast<linkw::FinishReason>(result.finish);
  event.accepted_drafts = result.accepted_drafts;
  tokens_out_ += result.tokens.size();
  if (result.finish == FinishReason::kStopped && !slots_[index].stop_seen) {
    stopped_otherwise_ = true;
  }
  const absl::StatusOr<linkw::TokenSpan> out = link_.rings->WriteTokens(result.tokens);
  if (out.ok()) event.out = *out;
  if (!lane.want_logits) return event;
  const absl::StatusOr<linkw::TokenSpan> logits = link_.rings->WriteLogits(result.logits);
  if (logits.ok()) event.logits = *logits;
  return event;
}

bool TickRun::LaneStopped(size_t lane) {
  on_progress_();
  if (lane >= lanes_.size() || !link_.LaneStopped(plan_.lanes[lanes_[lane]].stop_slot))
    return false;
  slots_[lanes_[lane]].stop_seen = true;
  return true;
}

void TickRun::Emit(size_t lane, absl::Span<const Token> tokens) {
  on_progress_();
  if (lane >= lanes_.size() || (plan_.flags & linkw::kTickFlagPartialEmits) == 0) return;
  const linkw::Lane& of_plan = plan_.lanes[lanes_[lane]];
  Slot& slot = slots_[lanes_[lane]];
  // More than the lane can draw is the engine's fault, and found in its result.
  tokens = tokens.subspan(0, std::min<size_t>(tokens.size(), MostTokens(of_plan) - slot.emitted));
  while (!tokens.empty()) {
    const absl::Span<const Token> now = tokens.subspan(0, std::min(tokens.size(), kMaxEmitTokens));
    emit_({.tick_id = plan_.tick_id,
           .lane_tag = of_plan.lane_tag,
           .tokens = {now.begin(), now.end()},
           .index = slot.emitted});
    slot.emitted += static_cast<uint32_t>(now.size());
    tokens.remove_prefix(now.size());
  }
}

}  // namespace superfluid
