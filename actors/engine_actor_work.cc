// Ticks, calls and state ops of the engine's actor.

#include <algorithm>
#include <utility>
#include <variant>

#include "actors/engine_actor.h"
#include "actors/engine_status.h"
#include "actors/tick_run.h"
#include "protocol/status.h"
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
  ops.back().message.clear();  // its StateOpDone had it; 256 of them have to fit into a frame
}

EngineActorState::Choice EngineActorState::Choose() const {
  Choice choice{.work = work_.Next()};
  const auto may_begin = [&](WorkClass work) { return choice.work.at(static_cast<size_t>(work)); };
  choice.op = may_begin(WorkClass::kOp);
  if (!choice.op) choice.op = NextRunningOp();
  const bool can_start = queue_->waiting() > 0 && HasRoomToStart();
  choice.ready = {may_begin(WorkClass::kTick).has_value(), may_begin(WorkClass::kCall).has_value(),
                  choice.op.has_value(), can_start || queue_->NextToStep().has_value()};
  return choice;
}

// ---- Ticks ----

void EngineActorState::OnTick(const QueueTick& tick) {
  work_.Add(tick.key, WorkClass::kTick, FootprintOf(*tick.message), true);
  ticks_.emplace(tick.key, tick);
  ScheduleStep();
  PublishLoad();
}

void EngineActorState::RunTick(RequestKey key) {
  const QueueTick tick = std::move(ticks_.extract(key).mapped());
  const linkw::TickPlan& plan = std::get<linkw::TickSubmit>(*tick.message).plan;
  EngineLink& link = LinkOf(key.link);
  const TickRun::EmitSink emit = [this, &tick](linkw::TickEmit emitted) {
    compat::Send(
        self_, tick.writer,
        SendMessage{.correlation = tick.key.seq,
                    .message = std::make_shared<const linkw::WorkerMessage>(std::move(emitted)),
                    .ack_to = {}});
  };
  const int64_t begin_ns = Now();
  progress_->SetRequest(key);
  progress_->BeginStep(begin_ns);
  if (tick.deadline_ns != 0 && begin_ns >= tick.deadline_ns) {
    tick.token->Cancel(CancelReason::kDeadline, begin_ns);
  }
  const std::function<void()> on_progress = [this] { progress_->ContinueStep(Now()); };
  TickRun run(*generation(), (*engine_)->info(), link, plan, emit, on_progress);
  linkw::TickResult result =
      tick.token->cancelled()
          ? linkw::TickResult{.status = linkw::FromAbsl(StoppedStatus(tick.token->reason())),
                              .message = MessageOf(StoppedStatus(tick.token->reason())),
                              .events = {}}
          : run.Run(*tick.token);
  const int64_t end_ns = Now();
  progress_->EndStep(end_ns);
  progress_->SetTick(plan.lanes.size(), run.tokens_in(), run.tokens_out());
  result.events.timings = {.queue_us = Microseconds(begin_ns - tick.received_ns),
                           .engine_us = Microseconds(end_ns - begin_ns)};
  if (link.control != nullptr) {
    link.control->Beat({.tick_id = plan.tick_id, .monotonic_ns = static_cast<uint64_t>(end_ns)});
  }
  work_.Remove(key);
  AnswerTick(tick, std::move(result));
}

void EngineActorState::AnswerTick(const QueueTick& tick, linkw::TickResult result) {
  if (result.status == linkw::Status::kOk || !result.events.lanes.empty()) {
    result.events.op_completions = std::exchange(LinkOf(tick.key.link).reported_ops, {});
    PublishMemory();
    result.events.mem = ToWire(progress_->memory());
  }
  if (tick.token->cancelled()) progress_->AddCancel();
  PublishLoad();
  compat::Send(self_, tick.dispatcher, AnswerFollows{tick.key.seq});
  compat::Send(
      self_, tick.writer,
      SendMessage{.correlation = tick.key.seq,
                  .message = std::make_shared<const linkw::WorkerMessage>(std::move(result)),
                  .ack_to = FrameWrittenSink(tick.dispatcher)});
  compat::Send(self_, tick.dispatcher, RequestFinished{.seq = tick.key.seq, .replies = 1});
}

// ---- Calls ----

void EngineActorState::OnCall(const RunCall& call) {
  work_.Add(call.key, WorkClass::kCall, FootprintOf(*call.message), true);
  calls_.emplace(call.key, call);
  ScheduleStep();
  PublishLoad();
}

void EngineActorState::RunCallNow(RequestKey key) {
  const RunCall call = std::move(calls_.extract(key).mapped());
  progress_->SetRequest(key);
  progress_->BeginStep(Now());
  Engine& engine = *engine_->operator->();
  linkw::WorkerMessage answer =
      CallRun(engine, LinkOf(key.link), context_, call.segment).Run(*call.message);
  progress_->EndStep(Now());
  work_.Remove(key);
  PublishMemory();
  PublishLoad();
  compat::Send(self_, call.dispatcher,
               CallDone{.seq = key.seq,
                        .answer = std::make_shared<const linkw::WorkerMessage>(std::move(answer))});
}

// ---- State ops ----

void EngineActorState::OnReserveOp(const ReserveOp& reserve) {
  Footprint footprint;
  if (reserve.sequence != SequenceHandle{}) footprint.keys = {WorkKey::Of(reserve.sequence)};
  work_.Add(reserve.key, WorkClass::kOp, std::move(footprint), false);
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

// The op that was stepped longest ago, of those that have something to do.
std::optional<RequestKey> EngineActorState::NextRunningOp() const {
  std::optional<RequestKey> next;
  uint64_t longest = 0;
  for (const auto& [key, op] : ops_) {
    if (op.running == nullptr || op.idle) continue;
    if (!next || op.stepped < longest) {
      next = key;
      longest = op.stepped;
    }
  }
  return next;
}

void EngineActorState::StepOp(RequestKey key) {
  Op& op = ops_.at(key);
  op.stepped = ++op_steps_;
  if (op.request.token->cancelled()) return EndOp(key, StoppedStatus(op.request.token->reason()));
  progress_->SetRequest(key);
  progress_->BeginStep(Now());
  if (op.running == nullptr) {
    work_.Begin(key);
    absl::StatusOr<std::unique_ptr<OpRun>> begun = OpRun::Begin(
        *generation(), LinkOf(key.link), op.request.op, op.request.segment, op.request.import);
    progress_->EndStep(Now());
    if (!begun.ok()) return EndOp(key, begun.status());
    op.running = *std::move(begun);
    return;
  }
  const absl::StatusOr<StateJobOutcome> outcome =
      op.running->Step(StepBudget{.target = options_.step_budget}, *op.request.token);
  progress_->EndStep(Now());
  if (!outcome.ok()) return EndOp(key, outcome.status());
  if (*outcome == StateJobOutcome::kDone) return EndOp(key, absl::OkStatus());
  if (*outcome == StateJobOutcome::kMore) return;
  op.idle = true;
  if (std::exchange(poll_scheduled_, true)) return;
  compat::SendAfter(self_, EngineActor(self_), kOpPoll, PollOps{});
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
    op.running.reset();  // the engine lets go of the memory before anybody is told
  }
  work_.Remove(key);
  PublishMemory();
  PublishLoad();
  compat::Send(self_, op.request.reply_to, std::move(ended));
  ScheduleStep();
}

// ---- Cancels and ends ----

// Ends a tick that waits, or an op, whose token is set. A call cannot be cancelled, and a tick that
// runs looks at its token itself.
bool EngineActorState::CancelWork(RequestKey key) {
  if (const auto op = ops_.find(key); op != ops_.end()) {
    if (!op->second.request.token->cancelled()) return false;
    EndOp(key, StoppedStatus(op->second.request.token->reason()));
    return true;
  }
  const auto it = ticks_.find(key);
  if (it == ticks_.end() || !it->second.token->cancelled()) return false;
  const QueueTick tick = std::move(ticks_.extract(it).mapped());
  work_.Remove(key);
  const absl::Status stopped = StoppedStatus(tick.token->reason());
  AnswerTick(tick,
             {.status = linkw::FromAbsl(stopped), .message = MessageOf(stopped), .events = {}});
  ScheduleStep();
  return true;
}

void EngineActorState::DropWorkOf(LinkId link) {
  for (const RequestKey& key : work_.KeysOf(link)) {
    ticks_.erase(key);
    ops_.erase(key);
    calls_.erase(key);
    work_.Remove(key);
  }
}

}  // namespace superfluid
