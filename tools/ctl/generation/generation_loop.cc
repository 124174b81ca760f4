#include "tools/ctl/generation/generation_loop.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <variant>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "protocol/driver/expect_reply.h"
#include "protocol/messages/deadline.h"
#include "protocol/messages/status.h"
#include "tools/ctl/base/monotonic.h"
#include "tools/ctl/formats/unit_text.h"

namespace superfluid::ctl {
namespace {

using linkw::Status;

// Events may be there although the tick did not go through.
bool HasEvents(Status status) {
  return status == Status::kOk || status == Status::kCancelled ||
         status == Status::kDeadlineExceeded;
}

absl::Status Wrong(const std::string& what) {
  return linkw::MakeStatus(Status::kInternal, absl::StrCat("the worker ", what));
}

uint32_t StopSlotOf(size_t lane) { return static_cast<uint32_t>(lane) + 1; }

}  // namespace

GenerationLoop::GenerationLoop(linkw::LinkClient& client, linkw::DriverRings& rings,
                               GenerationPlan plan, absl::Duration patience,
                               GenerationListener& listener)
    : client_(client),
      rings_(rings),
      plan_(std::move(plan)),
      patience_(client, patience),
      listener_(listener) {
  outcome_.prompt_tokens = plan_.prompt.size();
  outcome_.lanes.resize(plan_.lanes);
  outcome_.lanes.front().sequence = plan_.sequence;
}

GenerationOutcome GenerationLoop::Run() {
  started_at_ = MonotonicNow();
  const absl::Status status = RunAll();
  const absl::Duration now = MonotonicNow();
  outcome_.elapsed = now - started_at_;
  if (!status.ok()) {
    outcome_.status = linkw::FromAbsl(status);
    outcome_.message = std::string(status.message());
  }
  const std::lock_guard lock(mutex_);
  if (stopped_at_.has_value()) {
    outcome_.stop = now - *stopped_at_;
    EndOpenLanes();
  }
  return std::move(outcome_);
}

// A stop between two ticks, or before the first, is in no tick's result.
void GenerationLoop::EndOpenLanes() {
  if (outcome_.status != Status::kOk && outcome_.status != Status::kCancelled) return;
  for (size_t lane = 0; lane < plan_.lanes; ++lane) {
    if (IsOpen(lane)) outcome_.lanes[lane].finish = linkw::FinishReason::kStopped;
  }
}

void GenerationLoop::Stop() {
  {
    const std::lock_guard lock(mutex_);
    if (stopped_at_.has_value()) return;
    stopped_at_ = MonotonicNow();
  }
  stopping_ = true;
  for (size_t lane = 0; lane < plan_.lanes; ++lane) {
    rings_.SetLaneStop(StopSlotOf(lane), true).IgnoreError();  // there are as many as lanes
  }
}

// The prompt's last chunk goes with the first draw.
absl::Status GenerationLoop::RunAll() {
  absl::Span<const linkw::Token> prompt = plan_.prompt;
  const bool draws = plan_.max_tokens > 0;
  while (prompt.size() > rings_.max_input_tokens() || (!draws && !prompt.empty())) {
    const auto chunk = prompt.subspan(0, rings_.max_input_tokens());
    prompt.remove_prefix(chunk.size());
    absl::Status status = RunTick({linkw::LaneKind::kPrefill, chunk, 0});
    if (!status.ok() || stopping_ || !AnyOpen()) return status;
  }
  while (draws && AnyOpen() && !stopping_) {
    const uint64_t before = outcome_.TokensDrawn();
    const uint32_t tokens = std::min(plan_.tokens_per_tick, TokensLeft());
    absl::Status status = RunTick({linkw::LaneKind::kDecode, prompt, tokens});
    if (!status.ok()) return status;
    if (AnyOpen() && outcome_.TokensDrawn() == before) return Wrong("draws no tokens");
    prompt = {};
  }
  return absl::OkStatus();
}

bool GenerationLoop::IsOpen(size_t lane) const {
  const LaneOutcome& outcome = outcome_.lanes[lane];
  return outcome.finish == linkw::FinishReason::kNotFinished &&
         (plan_.max_tokens == 0 || outcome.tokens.size() < plan_.max_tokens);
}

bool GenerationLoop::AnyOpen() const {
  for (size_t lane = 0; lane < plan_.lanes; ++lane) {
    if (IsOpen(lane)) return true;
  }
  return false;
}

// Of the open lane that is nearest to its end: no lane may draw more than it is to.
uint32_t GenerationLoop::TokensLeft() const {
  uint32_t left = std::numeric_limits<uint32_t>::max();
  for (size_t lane = 0; lane < plan_.lanes; ++lane) {
    if (!IsOpen(lane)) continue;
    const auto drawn = static_cast<uint32_t>(outcome_.lanes[lane].tokens.size());
    left = std::min(left, plan_.max_tokens - drawn);
  }
  return left;
}

absl::StatusOr<linkw::TickPlan> GenerationLoop::MakePlan(const TickShape& shape) {
  const absl::StatusOr<linkw::TokenSpan> input = rings_.WriteTokens(shape.input);
  if (!input.ok()) return input.status();
  linkw::TickPlan plan;
  plan.tick_id = outcome_.ticks + 1;
  plan.flags = linkw::kTickFlagPartialEmits;
  for (size_t i = 0; i < plan_.lanes; ++i) {
    if (!IsOpen(i)) continue;
    linkw::Lane lane;
    lane.lane_tag = linkw::LaneTag{i};
    lane.sequence = outcome_.lanes[i].sequence;
    lane.input = *input;
    lane.kind = shape.kind;
    lane.max_tokens = shape.max_tokens;
    lane.stop_slot = StopSlotOf(i);
    if (shape.kind == linkw::LaneKind::kDecode) SetDraw(i, lane);
    plan.lanes.push_back(std::move(lane));
  }
  return plan;
}

void GenerationLoop::SetDraw(size_t number, linkw::Lane& lane) const {
  lane.sampling = plan_.sampling;
  lane.sampling.seed += number;
  lane.grammar_handle = plan_.grammar;
  lane.stop_tokens = plan_.stop_tokens;
  lane.want_logits = plan_.want_logits;
}

absl::Status GenerationLoop::RunTick(const TickShape& shape) {
  absl::StatusOr<linkw::TickPlan> plan = MakePlan(shape);
  if (!plan.ok()) return plan.status();
  drawn_before_.clear();
  for (const LaneOutcome& lane : outcome_.lanes) drawn_before_.push_back(lane.tokens.size());
  const absl::StatusOr<std::unique_ptr<linkw::ReplyStream>> answers =
      client_.Start(linkw::TickSubmit{*std::move(plan)});
  if (!answers.ok()) return answers.status();
  return Follow(**answers);
}

// A tick may be computed for long. Whoever stops it wants an answer.
absl::StatusOr<linkw::WorkerMessage> GenerationLoop::NextAnswer(linkw::ReplyStream& answers) {
  while (true) {
    const bool stopped_before = stopping_;
    absl::StatusOr<linkw::WorkerMessage> answer =
        answers.Next(linkw::Deadline::After(patience_.patience()));
    if (!absl::IsDeadlineExceeded(answer.status())) return answer;
    if (stopped_before) {
      return linkw::MakeStatus(Status::kDeadlineExceeded,
                               absl::StrCat("the worker did not answer the stop within ",
                                            DurationText(patience_.patience())));
    }
    if (stopping_) continue;
    if (absl::Status works = patience_.Ask("a tick"); !works.ok()) return works;
  }
}

// Emits, then the result. Each sign of life starts the patience anew.
absl::Status GenerationLoop::Follow(linkw::ReplyStream& answers) {
  while (true) {
    absl::StatusOr<linkw::WorkerMessage> answer = NextAnswer(answers);
    if (answer.ok()) {
      if (const auto* emit = std::get_if<linkw::TickEmit>(&*answer)) {
        OnEmit(*emit);
        continue;
      }
    }
    const absl::StatusOr<linkw::TickResult> result =
        linkw::ExpectReply<linkw::TickResult>(std::move(answer));
    return result.ok() ? OnResult(*result) : result.status();
  }
}

// An emit that follows a dropped one is left to the result.
void GenerationLoop::OnEmit(const linkw::TickEmit& emit) {
  const auto lane = static_cast<size_t>(emit.lane_tag);
  if (lane >= plan_.lanes) return;
  const size_t told = outcome_.lanes[lane].tokens.size() - drawn_before_[lane];
  if (emit.index == told) Tell(lane, emit.tokens);
}

void GenerationLoop::Tell(size_t lane, absl::Span<const linkw::Token> tokens) {
  if (tokens.empty()) return;
  if (!outcome_.first_token.has_value()) outcome_.first_token = MonotonicNow() - started_at_;
  std::vector<linkw::Token>& drawn = outcome_.lanes[lane].tokens;
  const uint64_t index = drawn.size();
  drawn.insert(drawn.end(), tokens.begin(), tokens.end());
  listener_.OnTokens(lane, index, tokens);
}

absl::Status GenerationLoop::OnResult(const linkw::TickResult& result) {
  ++outcome_.ticks;
  outcome_.dropped_emits += result.events.dropped_emits;
  if (HasEvents(result.status)) {
    for (const linkw::LaneEvent& event : result.events.lanes) {
      absl::Status status = OnLane(event);
      if (!status.ok()) return status;
    }
  }
  return linkw::MakeStatus(result.status, result.message);
}

absl::Status GenerationLoop::OnLane(const linkw::LaneEvent& event) {
  const auto lane = static_cast<size_t>(event.lane_tag);
  if (lane >= plan_.lanes) return Wrong(absl::StrCat("names lane ", lane, ", which there is not"));
  LaneOutcome& outcome = outcome_.lanes[lane];
  outcome.finish = event.finish_reason;
  outcome.status = event.status;
  outcome.message = event.message;
  if (event.status != Status::kOk) {
    // The sequence is as it was before the tick: what was emitted in it does not count.
    outcome.tokens.resize(drawn_before_[lane]);
    outcome.finish = linkw::FinishReason::kError;
    return absl::OkStatus();
  }
  if (absl::Status status = TakeTokens(lane, event.out); !status.ok()) return status;
  outcome.sequence = event.sequence;
  outcome.position = event.position;
  const auto logits = rings_.ReadLogits(event.logits);
  if (!logits.ok()) return logits.status();
  if (!logits->empty()) listener_.OnLogits(lane, event.position, *logits);
  return absl::OkStatus();
}

// The ring has every token of the tick; those that were emitted have been told.
absl::Status GenerationLoop::TakeTokens(size_t lane, const linkw::TokenSpan& out) {
  const absl::StatusOr<std::vector<linkw::Token>> tokens = rings_.ReadTokens(out);
  if (!tokens.ok()) return tokens.status();
  const std::vector<linkw::Token>& drawn = outcome_.lanes[lane].tokens;
  const auto told = absl::MakeConstSpan(drawn).subspan(drawn_before_[lane]);
  if (tokens->size() < told.size() || !std::equal(told.begin(), told.end(), tokens->begin())) {
    return Wrong("emitted other tokens than it put into its out ring");
  }
  Tell(lane, absl::MakeConstSpan(*tokens).subspan(told.size()));
  return absl::OkStatus();
}

}  // namespace superfluid::ctl
