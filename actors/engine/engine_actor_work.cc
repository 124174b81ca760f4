// Ticks, calls and state ops of the engine's actor.

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "actors/engine/engine_actor.h"
#include "actors/engine/engine_watch.h"
#include "actors/engine/footprint.h"
#include "actors/engine/tick_run.h"
#include "actors/runtime/engine_status.h"
#include "actors/runtime/refusal.h"
#include "protocol/messages/status.h"
#include "spdlog/spdlog.h"

namespace superfluid {
namespace {

// How long an op that had nothing to do is left alone.
constexpr absl::Duration kOpPoll = absl::Milliseconds(1);

uint64_t Microseconds(int64_t ns) { return static_cast<uint64_t>(std::max<int64_t>(ns, 0) / 1000); }

}  // namespace

Generation* EngineActorState::generation() const {
  return engine_ == nullptr ? nullptr : (*engine_)->generation();
}

EngineLink& EngineActorState::LinkOf(LinkId link) {
  const auto [it, is_new] = links_.try_emplace(link);
  if (is_new && generation() != nullptr) {
    for (const BuiltInStrategy& strategy : generation()->Strategies()) {
      it->second.handles.Add(HandleKind::kStrategy, static_cast<uint64_t>(strategy.slot))
          .IgnoreError();
    }
  }
  return it->second;
}

void EngineActorState::OnAttachRings(const AttachRings& attach) {
  LinkOf(attach.link).rings = std::move(*attach.rings);
}

void EngineActorState::OnOpReported(const OpReported& reported) {
  const auto link = links_.find(reported.link);
  if (link == links_.end()) return;  // it ended meanwhile, and must not come back
  std::vector<linkw::StateOpDone>& ops = link->second.reported_ops;
  if (ops.size() == EngineLink::kMostReported) ops.erase(ops.begin());
  ops.push_back(reported.done);
  ops.back().message.clear();  // its StateOpDone had it; 256 of them have to fit
                               // into a frame
}

// ---- Ticks ----

void EngineActorState::OnTick(const QueueTick& tick) {
  work_.AddReady(tick.key, WorkClass::kTick,
                 FootprintOf(*tick.message, LinkOf(tick.key.link), work_.SpareFootprint()));
  ticks_.emplace(tick.key, tick);
  if (IsAlone()) return OnMicroStep();
  ScheduleStep();
  PublishLoad();
}

void EngineActorState::RunTick(RequestKey key) {
  const QueueTick tick = std::move(ticks_.extract(key).mapped());
  const int64_t begin_ns = Now();
  if (tick.deadline_ns != 0 && begin_ns >= tick.deadline_ns) {
    tick.token->Cancel(CancelReason::kDeadline, begin_ns);
  }
  if (tick.token->cancelled() || !tick.token->Begin()) return EndWaitingTick(tick);
  const linkw::TickPlan& plan = std::get<linkw::TickSubmit>(*tick.message).plan;
  const TickRun::EmitSink emit = [this, &tick](linkw::TickEmit emitted) {
    compat::Send(
        self_, tick.writer,
        SendMessage{.correlation = tick.key.seq,
                    .message = std::make_shared<const linkw::WorkerMessage>(std::move(emitted))});
  };
  progress_->SetRequest(key);
  EngineStep step(
      *progress_, [this] { return Now(); }, begin_ns);
  progress_->BeginTick(plan.lanes.size());
  const std::function<void()> on_progress = [this] { progress_->ContinueStep(Now()); };
  TickRun run(*generation(), (*engine_)->info(), LinkOf(key.link), tick_space_, plan, emit,
              on_progress);
  linkw::TickResult result = run.Run(*tick.token);
  progress_->SetMemory((*engine_)->Memory());
  const int64_t end_ns = step.End();
  progress_->EndTick(end_ns, plan.lanes.size(), run.tokens_in(), run.tokens_out());
  result.events.timings = {.queue_us = Microseconds(begin_ns - tick.received_ns),
                           .engine_us = Microseconds(end_ns - begin_ns)};
  Beat(tick, end_ns);
  work_.Remove(key);
  AnswerTick(tick, std::move(result));
}

// Ends a tick whose token was set before it began. The Dispatcher may have answered it already.
void EngineActorState::EndWaitingTick(const QueueTick& tick) {
  Beat(tick, Now());
  work_.Remove(tick.key);
  if (!tick.token->Begin()) {
    progress_->AddCancel();
    return compat::Send(self_, tick.dispatcher, RequestFinished{.seq = tick.key.seq});
  }
  const absl::Status stopped = StoppedStatus(tick.token->reason());
  AnswerTick(tick,
             {.status = linkw::FromAbsl(stopped), .message = MessageOf(stopped), .events = {}});
}

void EngineActorState::Beat(const QueueTick& tick, int64_t now_ns) {
  const std::shared_ptr<WorkerControl>& control = LinkOf(tick.key.link).control;
  if (control == nullptr) return;
  control->Beat({.tick_id = std::get<linkw::TickSubmit>(*tick.message).plan.tick_id,
                 .monotonic_ns = static_cast<uint64_t>(now_ns)});
}

void EngineActorState::AnswerTick(const QueueTick& tick, linkw::TickResult result) {
  if (result.status == linkw::Status::kOk || !result.events.lanes.empty()) {
    result.events.op_completions = std::exchange(LinkOf(tick.key.link).reported_ops, {});
    result.events.mem = ToWire(progress_->memory());
  }
  if (tick.token->cancelled()) progress_->AddCancel();
  PublishLoad();
  tick.replies->NoteHandedOver();
  tick.token->MarkAnswered();
  compat::Send(
      self_, tick.writer,
      SendMessage{.correlation = tick.key.seq,
                  .message = std::make_shared<const linkw::WorkerMessage>(std::move(result)),
                  .counted_by = tick.replies});
  compat::Send(self_, tick.dispatcher, RequestFinished{.seq = tick.key.seq});
}

// ---- Calls ----

void EngineActorState::OnCall(const RunCall& call) {
  if (work_.Contains(call.key)) {
    work_.MakeReady(call.key);  // its place was reserved
  } else {
    EngineLink& link = LinkOf(call.key.link);
    work_.AddReady(call.key, WorkClass::kCall, FootprintOf(*call.message, link));
    if (const std::optional<uint64_t> sequence = EmptiedBy(*call.message)) {
      link.BeginEmptying(*sequence);
    }
  }
  calls_.emplace(call.key, call);
  if (!CancelCall(call.key)) ScheduleStep();
  PublishLoad();
}

void EngineActorState::OnReserveCall(const ReserveCall& reserve) {
  work_.AddReserved(reserve.key, WorkClass::kCall,
                    FootprintOf(*reserve.message, LinkOf(reserve.key.link)));
}

// Takes a call out of those that wait; it is in its place in the order still.
RunCall EngineActorState::TakeCall(RequestKey key) {
  RunCall call = std::move(calls_.extract(key).mapped());
  if (const std::optional<uint64_t> sequence = EmptiedBy(*call.message)) {
    LinkOf(key.link).EndEmptying(*sequence);
  }
  return call;
}

void EngineActorState::RunCallNow(RequestKey key) {
  if (CancelCall(key)) return;
  const RunCall call = TakeCall(key);
  call.token->Begin();
  progress_->SetRequest(key);
  const CallControl control(*call.token, [this] { progress_->ContinueStep(Now()); });
  linkw::WorkerMessage answer;
  {
    const EngineStep step(*progress_, [this] { return Now(); });
    CallRun run(*engine_->operator->(), LinkOf(key.link), context_, control,
                {.segment = call.segment, .file = call.file});
    answer = run.Run(*call.message);
  }
  work_.Remove(key);
  if (call.token->cancelled()) progress_->AddCancel();
  PublishMemory();
  PublishLoad();
  compat::Send(self_, call.dispatcher,
               CallDone{.seq = key.seq,
                        .answer = std::make_shared<const linkw::WorkerMessage>(std::move(answer))});
}

// Answers a call that waits and whose token is set.
bool EngineActorState::CancelCall(RequestKey key) {
  const auto it = calls_.find(key);
  if (it == calls_.end() || !it->second.token->cancelled()) return false;
  const RunCall call = TakeCall(key);
  const absl::Status stopped = StoppedStatus(call.token->reason());
  work_.Remove(key);
  progress_->AddCancel();
  PublishLoad();
  compat::Send(
      self_, call.dispatcher,
      CallDone{.seq = key.seq,
               .answer = std::make_shared<const linkw::WorkerMessage>(Refuse(
                   linkw::TypeOf(*call.message), linkw::FromAbsl(stopped), MessageOf(stopped)))});
  ScheduleStep();
  return true;
}

// ---- State ops ----

void EngineActorState::OnReserveOp(const ReserveOp& reserve) {
  Footprint footprint;
  if (reserve.sequence != SequenceHandle{}) footprint.keys = {WorkKey::Of(reserve.sequence)};
  work_.AddReserved(reserve.key, WorkClass::kOp, std::move(footprint));
}

void EngineActorState::OnDropOp(RequestKey key) {
  work_.Remove(key);
  ScheduleStep();
  PublishLoad();
}

void EngineActorState::OnRunOp(const RunOp& run) {
  if (!work_.Contains(run.key)) return;  // its link is gone
  work_.MakeReady(run.key);
  ops_.emplace(run.key, Op{.request = run});
  if (!CancelWork(run.key)) ScheduleStep();
}

void EngineActorState::StepOp(RequestKey key) {
  Op& op = ops_.at(key);
  op.stepped = ++op_steps_;
  if (op.request.token->cancelled()) return EndOp(key, StoppedStatus(op.request.token->reason()));
  progress_->SetRequest(key);
  if (op.running == nullptr) {
    work_.Begin(key);
    op.request.token->Begin();
    absl::StatusOr<std::unique_ptr<OpRun>> begun = BeginOp(key.link, op.request);
    if (!begun.ok()) return EndOp(key, begun.status());
    op.running = *std::move(begun);
    return;
  }
  EngineStep step(*progress_, [this] { return Now(); });
  const absl::StatusOr<StateJobOutcome> outcome =
      op.running->Step(StepBudget{.target = options_.step_budget}, *op.request.token);
  step.End();
  if (!outcome.ok()) return EndOp(key, outcome.status());
  if (*outcome == StateJobOutcome::kDone) return EndOp(key, absl::OkStatus());
  if (*outcome == StateJobOutcome::kMore) return;
  op.idle = true;
  if (std::exchange(poll_scheduled_, true)) return;
  compat::SendAfter(self_, EngineActor(self_), kOpPoll, PollOps{});
}

absl::StatusOr<std::unique_ptr<OpRun>> EngineActorState::BeginOp(LinkId link, const RunOp& op) {
  const EngineStep step(*progress_, [this] { return Now(); });
  return OpRun::Begin(*generation(), LinkOf(link), op.op, op.segment, op.import);
}

void EngineActorState::OnPollOps() {
  poll_scheduled_ = false;
  for (auto& [key, op] : ops_) op.idle = false;
  ScheduleStep();
}

void EngineActorState::EndOp(RequestKey key, const absl::Status& status) {
  Op op = std::move(ops_.extract(key).mapped());
  OpEnded ended{.seq = key.seq, .status = status};
  if (op.request.token->cancelled()) progress_->AddCancel();
  // An engine that was told to stop may say so in its own way.
  if (absl::IsCancelled(status)) ended.status = StoppedStatus(op.request.token->reason());
  if (op.running != nullptr) {
    ended.envelope = op.running->envelope();
    ended.bytes_moved = op.running->bytes_moved();
    if (status.ok()) NoteOpDone(LinkOf(key.link), op.request.op, ended.envelope);
    const EngineVisit visit(*progress_, [this] { return Now(); });
    op.running.reset();  // the engine lets go of the memory before anybody is told
  }
  work_.Remove(key);
  PublishMemory();
  PublishLoad();
  compat::Send(self_, op.request.reply_to, std::move(ended));
  ScheduleStep();
}

// ---- Cancels and ends ----

// Ends a tick or call that waits, or an op, whose token is set. A tick or call that runs looks at
// its token itself.
bool EngineActorState::CancelWork(RequestKey key) {
  if (CancelCall(key)) return true;
  if (const auto op = ops_.find(key); op != ops_.end()) {
    if (!op->second.request.token->cancelled()) return false;
    EndOp(key, StoppedStatus(op->second.request.token->reason()));
    return true;
  }
  const auto it = ticks_.find(key);
  if (it == ticks_.end() || !it->second.token->cancelled()) return false;
  const QueueTick tick = std::move(ticks_.extract(it).mapped());
  EndWaitingTick(tick);
  ScheduleStep();
  return true;
}

void EngineActorState::DropWorkOf(LinkId link) {
  const EngineVisit visit(*progress_, [this] { return Now(); });
  for (const RequestKey& key : work_.KeysOf(link)) {
    ticks_.erase(key);
    ops_.erase(key);
    calls_.erase(key);
    work_.Remove(key);
  }
}

LinkReleased EngineActorState::OnReleaseLink(const ReleaseLink& release) {
  EndJobs(queue_->KeysOf(release.link), absl::CancelledError("the link was closed"));
  std::erase_if(opening_, [&](const auto& entry) { return entry.first.link == release.link; });
  DropWorkOf(release.link);
  const bool made_something = links_.erase(release.link) > 0;
  if (made_something && generation() != nullptr) EndSession();
  EndStoppedJobs();  // a job of a link that ended before may have come since
  if (release.reset_engine && jobs_.empty() && engine_ != nullptr) Reset();
  PublishMemory();
  PublishLoad();
  ScheduleStep();  // work of another link may have waited for this one's
  return {};
}

void EngineActorState::EndSession() {
  const EngineVisit visit(*progress_, [this] { return Now(); });
  generation()->EndSession();
}

void EngineActorState::Reset() {
  const EngineVisit visit(*progress_, [this] { return Now(); });
  (*engine_)->Reset();
}

}  // namespace superfluid
