// What the engine's actor does next.

#include <optional>

#include "actors/engine/engine_actor.h"

namespace superfluid {

void EngineActorState::OnMicroStep() {
  step_scheduled_ = false;
  EndStoppedJobs();
  const Choice choice = Choose();
  const std::optional<Turn> turn = turns_.Next(choice.ready);
  if (!turn) return;  // the message that makes something ready schedules the next one
  const int64_t begin_ns = Now();
  TakeTurn(*turn, choice);
  turns_.Charge(*turn, Now() - begin_ns);
  ScheduleStep();
  PublishLoad();
}

void EngineActorState::TakeTurn(Turn turn, const Choice& choice) {
  switch (turn) {
    case Turn::kTick:
      return RunTick(*choice.work.at(static_cast<size_t>(WorkClass::kTick)));
    case Turn::kCall:
      return RunCallNow(*choice.work.at(static_cast<size_t>(WorkClass::kCall)));
    case Turn::kOp:
      return StepOp(*choice.op);
    case Turn::kTranscription:
      return StepTranscriptions();
  }
}

EngineActorState::Choice EngineActorState::Choose() const {
  Choice choice{.work = work_.Next()};
  const auto may_begin = [&](WorkClass work) { return choice.work.at(static_cast<size_t>(work)); };
  choice.op = may_begin(WorkClass::kOp);
  if (!choice.op) choice.op = NextRunningOp();
  choice.ready = {may_begin(WorkClass::kTick).has_value(), may_begin(WorkClass::kCall).has_value(),
                  choice.op.has_value(), queue_->NextToStep() || CanStart()};
  return choice;
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

bool EngineActorState::HasRoomToStart() const {
  return !engine_is_full_ &&
         queue_->started() < static_cast<size_t>((*engine_)->info().max_transcriptions);
}

bool EngineActorState::CanStart() const {
  return HasRoomToStart() && queue_->NextToStart().has_value();
}

bool EngineActorState::MayHaveWork() const {
  return work_.AnyReady() || NextRunningOp() || queue_->NextToStep() || CanStart();
}

// Whether one tick is all that there is: nothing that arrived before it waits for its turn.
bool EngineActorState::IsAlone() const {
  return engine_ != nullptr && !step_scheduled_ && ticks_.size() == 1 && jobs_.empty() &&
         calls_.empty() && ops_.empty();
}

void EngineActorState::ScheduleStep() {
  // After a tick once more: what came during its step is in the mailbox, and was queued.
  if (step_scheduled_ || engine_ == nullptr || !(MayHaveWork() || turns_.awaits_tick())) return;
  step_scheduled_ = true;
  compat::Send(self_, EngineActor(self_), RunMicroStep{});
}

}  // namespace superfluid
