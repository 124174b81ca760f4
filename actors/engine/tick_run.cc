#include "actors/engine/tick_run.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "actors/engine/tick_checks.h"
#include "actors/runtime/engine_status.h"
#include "protocol/messages/status.h"

namespace superfluid {
namespace {

constexpr size_t kMaxEmitTokens = 1024;
// 256 of them have to fit into a TICK_RESULT.
constexpr size_t kMaxLaneMessageBytes = 256;

SequenceHandle ToEngine(linkw::SequenceId id) { return SequenceHandle{static_cast<uint64_t>(id)}; }

}  // namespace

TickRun::TickRun(Generation& generation, const EngineInfo& info, EngineLink& link, TickSpace& space,
                 const linkw::TickPlan& plan, const EmitSink& emit,
                 const std::function<void()>& on_progress)
    : generation_(generation),
      info_(info),
      link_(link),
      space_(space),
      plan_(plan),
      emit_(emit),
      on_progress_(on_progress) {}

linkw::TickResult TickRun::Run(const CancelToken& token) {
  space_.Begin(plan_.lanes.size());
  absl::Status status = CheckPlan();
  if (status.ok()) status = ReadInputs();
  if (status.ok()) status = RunLanes(token);
  if (!status.ok()) {
    return {.status = EngineStatus(status), .message = MessageOf(status), .events = {}};
  }
  linkw::TickResult result;
  result.events.tick_id = plan_.tick_id;
  MakeEvents(result.events.lanes);
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
  std::vector<uint64_t>& numbers = space_.numbers;
  numbers.clear();
  for (const linkw::Lane& lane : plan_.lanes) {
    numbers.push_back(static_cast<uint64_t>(lane.lane_tag));
  }
  if (absl::Status twice = CheckTwice(numbers, "have the tag"); !twice.ok()) return twice;
  numbers.clear();
  size_t with_logits = 0;
  for (const linkw::Lane& lane : plan_.lanes) {
    if (lane.sequence != linkw::SequenceId{}) {
      numbers.push_back(static_cast<uint64_t>(lane.sequence));
    }
    if (lane.want_logits) ++with_logits;
  }
  if (absl::Status twice = CheckTwice(numbers, "work on sequence"); !twice.ok()) return twice;
  if (with_logits > kLogitsRing.slots) {
    return absl::InvalidArgumentError(
        absl::StrCat("at most ", kLogitsRing.slots, " lanes of a tick may want logits"));
  }
  return absl::OkStatus();
}

absl::Status TickRun::CheckTwice(std::vector<uint64_t>& numbers, const char* what) const {
  if (!space_.twice.AnyTwice(numbers)) return absl::OkStatus();
  std::sort(numbers.begin(), numbers.end());
  const auto twice = std::adjacent_find(numbers.begin(), numbers.end());
  return absl::InvalidArgumentError(absl::StrCat("two lanes ", what, " ", *twice));
}

absl::Status TickRun::ReadInputs() {
  for (size_t i = 0; i < plan_.lanes.size(); ++i) {
    const linkw::TokenSpan& span = plan_.lanes[i].input;
    TickSpace::Slot& slot = space_.slots[i];
    slot.input_at = space_.inputs.size();
    if (span.count == 0) continue;
    if (absl::Status read = link_.rings->ReadTokens(span, space_.inputs); !read.ok()) return read;
    slot.input_count = span.count;
  }
  const LaneContext context{.info = info_, .handles = link_.handles};
  for (size_t i = 0; i < plan_.lanes.size(); ++i) {
    TickSpace::Slot& slot = space_.slots[i];
    if (!IsLaneFine(context, plan_.lanes[i], InputOf(slot))) {
      slot.status = CheckLane(context, plan_.lanes[i], InputOf(slot));
      if (!slot.status.ok()) continue;
    }
    slot.result = space_.lanes.size();
    space_.lanes.push_back(i);
    tokens_in_ += slot.input_count;
  }
  return absl::OkStatus();
}

absl::Span<const Token> TickRun::InputOf(const TickSpace::Slot& slot) const {
  return absl::MakeConstSpan(space_.inputs).subspan(slot.input_at, slot.input_count);
}

void TickRun::MakeWork(size_t index, LaneWork& work) const {
  const linkw::Lane& lane = plan_.lanes[index];
  work.tag = LaneTag{static_cast<uint64_t>(lane.lane_tag)};
  work.sequence = ToEngine(lane.sequence);
  work.kind = static_cast<LaneKind>(lane.kind);
  work.input = InputOf(space_.slots[index]);
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
}

absl::Status TickRun::RunLanes(const CancelToken& token) {
  if (space_.lanes.empty()) return absl::OkStatus();
  for (const size_t lane : space_.lanes) MakeWork(lane, space_.work.emplace_back());
  const Tick tick{.tick_id = plan_.tick_id,
                  .partial_emits = (plan_.flags & linkw::kTickFlagPartialEmits) != 0,
                  .lanes = space_.work};
  absl::StatusOr<std::vector<LaneResult>> results = generation_.RunTick(tick, token, *this);
  if (!results.ok()) return results.status();
  if (results->size() != space_.lanes.size()) {
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
  if (!AllInVocabulary(info_, result.tokens)) {
    return absl::InternalError("the engine drew a token outside its vocabulary");
  }
  const auto sequence = static_cast<uint64_t>(result.sequence);
  if (lane.sequence == linkw::SequenceId{}) {
    absl::Status added = link_.handles.Add(HandleKind::kSequence, sequence);
    if (!added.ok()) return added;
  } else if (result.sequence != ToEngine(lane.sequence)) {
    return absl::InternalError("the engine answered for another sequence");
  }
  // By what it has now: a tick that is stopped in time may not have taken its input.
  if (result.position == 0) {
    link_.maybe_empty.insert(sequence);
  } else if (!link_.maybe_empty.empty()) {
    link_.maybe_empty.erase(sequence);
  }
  return absl::OkStatus();
}

void TickRun::MakeEvents(std::vector<linkw::LaneEvent>& events) {
  events.reserve(plan_.lanes.size());
  for (size_t lane = 0; lane < plan_.lanes.size(); ++lane) MakeEvent(lane, events);
  WriteDrawn(events);
}

void TickRun::MakeEvent(size_t index, std::vector<linkw::LaneEvent>& events) {
  const linkw::Lane& lane = plan_.lanes[index];
  const TickSpace::Slot& slot = space_.slots[index];
  const absl::Status status =
      slot.status.ok() ? CheckResult(index, results_[slot.result]) : slot.status;
  if (status.ok()) {
    Draw(results_[slot.result].tokens, events);
    return WriteResult(index, results_[slot.result], events.back());
  }
  linkw::LaneEvent& event = events.emplace_back();
  event.lane_tag = lane.lane_tag;
  event.sequence = lane.sequence;
  event.finish_reason = linkw::FinishReason::kError;
  event.status = EngineStatus(status);
  event.message = MessageOf(status).substr(0, kMaxLaneMessageBytes);
}

// Adds the event of a lane that drew these. They go behind those of other lanes, as many as one
// slot of the ring holds, into that slot (TICK-19).
void TickRun::Draw(absl::Span<const Token> tokens, std::vector<linkw::LaneEvent>& events) {
  std::vector<Token>& drawn = space_.drawn;
  if (drawn.size() + tokens.size() > kTokenOutRing.WordsPerSlot()) WriteDrawn(events);
  linkw::LaneEvent& event = events.emplace_back();
  event.out.ring_id = linkw::kTokenOutRing;
  if (tokens.empty()) return;
  event.out.offset = static_cast<uint32_t>(drawn.size());
  event.out.count = static_cast<uint32_t>(tokens.size());
  drawn.insert(drawn.end(), tokens.begin(), tokens.end());
  tokens_out_ += tokens.size();
}

// Writes the next slot of the ring, and tells the events whose tokens are in it.
void TickRun::WriteDrawn(std::vector<linkw::LaneEvent>& events) {
  if (!space_.drawn.empty()) {
    const absl::StatusOr<linkw::TokenSpan> slot = link_.rings->WriteTokens(space_.drawn);
    for (size_t i = events_written_; i < events.size(); ++i) {
      linkw::TokenSpan& out = events[i].out;
      if (out.count == 0) continue;
      if (!slot.ok()) {
        out = {};
        continue;
      }
      out.slot = slot->slot;
      out.generation = slot->generation;
    }
    space_.drawn.clear();
  }
  events_written_ = events.size();
}

void TickRun::WriteResult(size_t index, const LaneResult& result, linkw::LaneEvent& event) {
  const linkw::Lane& lane = plan_.lanes[index];
  event.lane_tag = lane.lane_tag;
  event.sequence = linkw::SequenceId{static_cast<uint64_t>(result.sequence)};
  event.position = result.position;
  event.finish_reason = static_cast<linkw::FinishReason>(result.finish);
  event.accepted_drafts = result.accepted_drafts;
  if (result.finish == FinishReason::kStopped && !space_.slots[index].stop_seen) {
    stopped_otherwise_ = true;
  }
  if (!lane.want_logits) return;
  const absl::StatusOr<linkw::TokenSpan> logits = link_.rings->WriteLogits(result.logits);
  if (logits.ok()) event.logits = *logits;
}

bool TickRun::LaneStopped(size_t lane) {
  on_progress_();
  if (lane >= space_.lanes.size() || !link_.LaneStopped(plan_.lanes[space_.lanes[lane]].stop_slot))
    return false;
  space_.slots[space_.lanes[lane]].stop_seen = true;
  return true;
}

void TickRun::Emit(size_t lane, absl::Span<const Token> tokens) {
  on_progress_();
  if (lane >= space_.lanes.size() || (plan_.flags & linkw::kTickFlagPartialEmits) == 0) return;
  const linkw::Lane& of_plan = plan_.lanes[space_.lanes[lane]];
  TickSpace::Slot& slot = space_.slots[space_.lanes[lane]];
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
