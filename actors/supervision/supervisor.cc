#include "actors/supervision/supervisor.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "actors/runtime/printable.h"
#include "actors/runtime/status_error.h"
#include "actors/supervision/alarm_clock.h"
#include "protocol/messages/status.h"
#include "spdlog/spdlog.h"

namespace superfluid {
namespace {

uint64_t Number(LinkId id) { return static_cast<uint64_t>(id); }

const char* NameOf(DrainScope scope) {
  switch (scope) {
    case DrainScope::kNothing:
      return "nothing";
    case DrainScope::kTranscriptions:
      return "transcriptions";
    case DrainScope::kEverything:
      return "everything";
  }
  return "unknown";
}

}  // namespace

void SupervisorState::Start(WorkerConfig config, std::shared_ptr<EngineProgress> progress) {
  config_ = std::move(config);
  progress_ = std::move(progress);
  places_.emplace(config_.places);
  presence_ = std::make_shared<WorkerPresence>(compat::NowNs(self_));
  audio_copies_ = std::make_shared<MemoryBudget>(config_.live_audio_bytes);
  engine_ = compat::Spawn(*self_, OnEngineThread(), EngineActorBehavior,
                          EngineActorOptions{.make_engine = config_.make_engine,
                                             .step_budget = config_.step_budget,
                                             .live_audio_bytes = config_.live_audio_bytes},
                          progress_);
  self_->monitor(engine_);
  alarms_ = compat::Spawn(*self_, OnLinkThread(), AlarmClockBehavior);
  self_->monitor(alarms_);
}

compat::Placement SupervisorState::OnLinkThread() const {
  if (config_.threads == nullptr) return compat::Placement::kPooled;
  return compat::Placement::Hosted({.thread = &config_.threads->link()});
}

compat::Placement SupervisorState::OnEngineThread() const {
  if (config_.threads == nullptr) return compat::Placement::kPooled;
  return compat::Placement::Hosted({.thread = &config_.threads->engine()});
}

void SupervisorState::OnCheckHealth() {
  if (exited_) return;
  if (loaded_ == nullptr) return WatchLoading();
  const int64_t now_ns = compat::NowNs(self_);
  progress_->Look(now_ns, absl::ToInt64Nanoseconds(config_.health_period));
  const absl::Duration age = absl::Nanoseconds(progress_->StepAgeNs(now_ns));
  if (age > config_.engine_stall && !std::exchange(stall_reported_, true)) {
    spdlog::error("engine.stalled step_age_ms={} steps={}", absl::ToInt64Milliseconds(age),
                  progress_->steps());
  } else if (age <= config_.engine_stall && std::exchange(stall_reported_, false)) {
    spdlog::info("engine.recovered steps={}", progress_->steps());
  }
  const absl::Duration turn_age = TurnAgeNow(now_ns);
  if (age > config_.engine_kill || turn_age > config_.engine_kill) {
    config_.on_engine_stuck(std::max(age, turn_age));
    return Exit(ExitCode::kEngineStalled, age > turn_age ? "the engine is stuck inside a step"
                                                         : "a thread of the worker is stuck");
  }
  if (IsLettingGoOverdue(now_ns)) {
    return Exit(ExitCode::kEngineStalled, "the worker did not let go of its work in time");
  }
  if (config_.on_progress && std::max(age, turn_age) <= config_.engine_stall) config_.on_progress();
  compat::SendAfter(self_, Supervisor(self_), config_.health_period, CheckHealth{});
}

// Of what runs on the hosted threads and is no step: a call that hangs there stops links as well.
absl::Duration SupervisorState::TurnAgeNow(int64_t now_ns) {
  if (config_.threads == nullptr) return absl::ZeroDuration();
  const int64_t period_ns = absl::ToInt64Nanoseconds(config_.health_period);
  const bool in_step = progress_->step_started_ns() != 0;
  const int64_t engine_ns =
      engine_turn_.Look(now_ns, config_.threads->engine().turn(), in_step, period_ns);
  const int64_t link_ns = link_turn_.Look(now_ns, config_.threads->link().turn(),
                                          /*watched_otherwise=*/false, period_ns);
  return absl::Nanoseconds(std::max(engine_ns, link_ns));
}

void SupervisorState::OnShutDown(const ShutDown& shut_down) {
  spdlog::info("worker.stopping links={} cancel={} patience_ms={}", links_.size(),
               NameOf(shut_down.scope), absl::ToInt64Milliseconds(shut_down.patience));
  if (!std::exchange(shutting_down_, true)) {
    drain_finished_ = drain_cancelled_ = 0;
    drain_cut_ = false;
    told_to_cancel_ = shut_down.scope != DrainScope::kNothing;
  }
  if (loaded_ == nullptr) return StopLoading();
  if (!exit_with_) exit_with_ = {ExitCode::kOk, "told to stop"};
  drain_scope_ = std::max(drain_scope_, shut_down.scope);
  drain_by_ns_ =
      std::min(drain_by_ns_, compat::NowNs(self_) + absl::ToInt64Nanoseconds(shut_down.patience));
  if (links_.contains(shut_down.asked_by)) drains_last_ = shut_down.asked_by;
  for (const auto& [id, link] : links_) {
    if (id == drains_last_) continue;
    compat::Send(self_, link.dispatcher,
                 DrainLink{.scope = shut_down.scope, .patience = shut_down.patience});
  }
  DrainLastLink();
  // What has not ended by then hangs in the engine: its dispatcher waits in vain.
  const absl::Duration left = shut_down.patience + config_.engine_kill;
  let_go_left_ = let_go_left_ ? std::min(*let_go_left_, left) : left;
  ExitIfDone();
}

// The link that asked for the worker's end, when all others are gone: it may have work of its own,
// and is told how many requests were ended in all.
void SupervisorState::DrainLastLink() {
  if (!drains_last_ || links_.size() > 1) return;
  const auto it = links_.find(*std::exchange(drains_last_, std::nullopt));
  if (it == links_.end()) return;
  compat::Send(
      self_, it->second.dispatcher,
      DrainLink{.scope = drain_scope_,
                .patience = std::max(absl::Nanoseconds(drain_by_ns_ - compat::NowNs(self_)),
                                     absl::ZeroDuration()),
                .finished_elsewhere = drain_finished_,
                .cancelled_elsewhere = drain_cancelled_});
}

// A pause of the process, in which nothing could end, counts as no more than two periods.
bool SupervisorState::IsLettingGoOverdue(int64_t now_ns) {
  const absl::Duration passed = absl::Nanoseconds(now_ns - std::exchange(health_seen_ns_, now_ns));
  if (!let_go_left_) return false;
  *let_go_left_ -= std::min(passed, 2 * config_.health_period);
  return *let_go_left_ < absl::ZeroDuration();
}

void SupervisorState::OnDown(const caf::down_msg& down) {
  if (exited_) return;
  if (down.source == engine_.address()) {
    if (loaded_ == nullptr) return OnNotLoaded(ToStatus(down.reason));
    progress_->SetFailed();
    return FailEverything(ExitCode::kEngineFailed,
                          absl::StrCat("the engine failed: ", ToStatus(down.reason).message()));
  }
  if (down.source == alarms_.address()) {
    return FailEverything(ExitCode::kEngineFailed, "the clock of the deadlines failed");
  }
  for (const auto& [id, link] : links_) {
    if (link.dispatcher.address() != down.source) continue;
    // Its orderly end was reported before; this one died. Its writer tells the peer, and the engine
    // must let go all the same.
    spdlog::error("dispatcher.died link={} reason=\"{}\"", Number(id),
                  Printable(ToStatus(down.reason).message()));
    if (link.channel != nullptr) link.channel->Shutdown();
    OnLinkEnding(id);
    if (loaded_ == nullptr) {  // the engine holds nothing of it
      link.stream->Shutdown();
      return ForgetLink(id, "its dispatcher died");
    }
    const auto forget = [this, lost = id, stream = link.stream] {
      stream->Shutdown();  // in case that the writer died as well
      ForgetLink(lost, "its dispatcher died");
    };
    compat::Request(
        self_, engine_, config_.limits.engine_patience,
        ReleaseLink{.link = id, .reset_engine = config_.on_disconnect == OnDisconnect::kReset})
        .then([forget](const LinkReleased&) { forget(); },
              [forget](const caf::error&) { forget(); });
    return;
  }
}

void SupervisorState::FailEverything(ExitCode code, const std::string& reason) {
  spdlog::critical("worker.failed reason=\"{}\"", Printable(reason));
  exit_with_ = {code, reason};
  for (const auto& [id, link] : links_) {
    compat::Send(self_, link.dispatcher, EndLink{linkw::Status::kEngineFailed, reason});
  }
  ExitIfDone();
}

void SupervisorState::ExitIfDone() {
  if (!exit_with_ || !links_.empty()) return;
  std::string reason = exit_with_->second;
  if (shutting_down_) {
    absl::StrAppend(&reason, "; open requests: ", drain_finished_, " finished, ", drain_cancelled_,
                    " cancelled");
  }
  const bool cut = exit_with_->first == ExitCode::kOk && drain_cut_ && !told_to_cancel_;
  Exit(cut ? ExitCode::kDrainCut : exit_with_->first, reason);
}

void SupervisorState::Exit(ExitCode code, const std::string& reason) {
  if (std::exchange(exited_, true)) return;
  self_->send_exit(engine_, caf::exit_reason::user_shutdown);
  self_->send_exit(alarms_, caf::exit_reason::user_shutdown);
  config_.on_exit(code, reason);
  self_->quit();
}

Supervisor::behavior_type SupervisorBehavior(Supervisor::stateful_pointer<SupervisorState> self,
                                             WorkerConfig config,
                                             std::shared_ptr<EngineProgress> progress) {
  self->set_down_handler([self](const caf::down_msg& down) { self->state.OnDown(down); });
  self->state.Start(std::move(config), std::move(progress));
  return {
      [self](const StartWorker&) { return self->state.OnStart(); },
      [self](const BundleHashed& hashed) { self->state.OnBundleHashed(hashed.hash); },
      [self](const FramesConnected& connected) { self->state.OnFrames(connected); },
      [self](const DescriptorsConnected& connected) { self->state.OnDescriptors(connected); },
      [self](const ClaimRole& claim) { return self->state.OnClaim(claim); },
      [self](const ClaimOverdue& overdue) { self->state.OnClaimOverdue(overdue.link); },
      [self](const LinkEnding& ending) { self->state.OnLinkEnding(ending.link); },
      [self](const LinkEnded& ended) { self->state.OnLinkEnded(ended); },
      [self](const CheckHealth&) { self->state.OnCheckHealth(); },
      [self](const ShutDown& shut_down) { self->state.OnShutDown(shut_down); },
  };
}

}  // namespace superfluid
