// Handshake, health, deadlines and drain of one link.

#include <algorithm>
#include <utility>

#include "actors/dispatch/dispatcher.h"
#include "actors/runtime/engine_status.h"
#include "actors/runtime/printable.h"
#include "actors/runtime/refusal.h"
#include "actors/runtime/status_error.h"
#include "protocol/messages/status.h"
#include "protocol/messages/version.h"
#include "spdlog/spdlog.h"

namespace superfluid {
namespace {

// The Supervisor answers when the engine has cleaned up after the previous driver.
constexpr absl::Duration kClaimPatience = absl::Minutes(1);

constexpr int64_t kNsPerMs = 1'000'000;

// Longer than a process lives.
constexpr absl::Duration kForEver = absl::Hours(24 * 365);

// LinkReader decodes what follows HELLO before the version is known, and LinkWriter has one
// version: a second one needs both to be told, and the reader to stop at HELLO until then.
constexpr linkw::VersionRange kServed;
static_assert(kServed.min == kServed.max, "a link reads and writes one version");
DrainScope ScopeOf(const linkw::DrainRequest& drain) {
  return drain.cancel_transcriptions ? DrainScope::kTranscriptions : DrainScope::kNothing;
}

absl::Duration PatienceOf(const linkw::DrainRequest& drain) {
  return drain.deadline_ms == 0 ? kForEver : absl::Milliseconds(drain.deadline_ms);
}

// ROLE-1: a driver that cannot be one now may try again.
absl::Status StillCleaningUp() {
  return linkw::MakeStatus(linkw::Status::kBusy,
                           "the engine is still cleaning up after the driver before");
}

bool WantsTelemetry(const linkw::Hello& hello) {
  return std::find(hello.features.begin(), hello.features.end(), "telemetry") !=
         hello.features.end();
}

}  // namespace

DispatcherState::Outcome DispatcherState::On(const Current& current, const linkw::Hello& hello) {
  const absl::StatusOr<uint16_t> version = linkw::Negotiate(hello.proto_versions);
  if (!version.ok()) {
    LinkError(version.status(), current.seq);
    return Outcome::kHandled;
  }
  client_name_ = hello.client_name;
  wants_telemetry_ = WantsTelemetry(hello);
  session_.Claim(hello.role);
  hello_seq_ = current.seq;
  version_ = *version;
  if (context_.loaded != nullptr) Claim();
  return Outcome::kHandled;
}

// Asks for the role that HELLO wants. REQUIRES: the engine is loaded.
void DispatcherState::Claim() {
  compat::Request(self_, context_.supervisor, kClaimPatience,
                  ClaimRole{.link = context_.id, .role = session_.role()})
      .then(
          [this](const RoleClaimed& claimed) {
            if (session_.phase() != LinkPhase::kClaimingRole) return;
            if (!claimed.status.ok()) return LinkError(claimed.status, hello_seq_);
            Open(hello_seq_, version_);
            HandleOvertaking();
            HandleHeld();
          },
          [this](const caf::error& error) {
            const absl::Status status = ToStatus(error);
            LinkError(absl::IsDeadlineExceeded(status) ? StillCleaningUp() : status, hello_seq_);
          });
}

void DispatcherState::OnEngineReady(const EngineReady& ready) {
  if (session_.ended() || context_.loaded != nullptr) return;
  context_.loaded = ready.engine;
  StartStateOps();
  if (session_.phase() == LinkPhase::kClaimingRole) Claim();
}

// A HELLO may have been refused meanwhile; then another could follow.
void DispatcherState::OnHelloOverdue() {
  if (session_.phase() != LinkPhase::kAwaitingHello) return;
  LinkError(linkw::MakeStatus(linkw::Status::kDeadlineExceeded, "no HELLO came in time"), 0);
}

void DispatcherState::Open(uint64_t hello_seq, uint16_t version) {
  session_.Grant(compat::NowNs(self_));
  if (session_.drove() && context_.on_drive) context_.on_drive();
  linkw::HelloAck ack = context_.loaded->hello;
  ack.chosen_version = version;
  if (session_.is_driver()) ack.link_token = context_.token;
  // Observers come and go: a health check is one.
  spdlog::log(session_.drove() ? spdlog::level::info : spdlog::level::debug,
              "link.ready link={} client=\"{}\" role={} version={}",
              static_cast<uint64_t>(context_.id), Printable(client_name_),
              session_.drove() ? "driver" : "observer", version);
  Reply(hello_seq, std::move(ack));
  if (wants_telemetry_) {
    SetAlarm(Alarm::kTelemetry, context_.limits.telemetry_period, SendTelemetry{});
  }
  if (pending_drain_) OnDrainLink(*std::exchange(pending_drain_, std::nullopt));
}

DispatcherState::Outcome DispatcherState::On(const Current& current, const linkw::Ping& /*ping*/) {
  const EngineProgress& progress = *context_.progress;
  const WorkerPresence& presence = *context_.presence;
  const int64_t now_ns = compat::NowNs(self_);
  Reply(
      current.seq,
      linkw::Pong{
          .queue_depth = progress.waiting(),
          .open_ops = progress.open_ops(),
          .open_transcriptions = progress.open_transcriptions(),
          .mem = ToWire(progress.memory()),
          .engine_busy_us = static_cast<uint64_t>(progress.busy_ns() / 1000),
          .engine_state = CurrentEngineState(),
          .engine_steps = progress.steps(),
          .step_age_us = static_cast<uint64_t>(progress.StepAgeNs(now_ns) / 1000),
          .uptime_ms = static_cast<uint64_t>(presence.UptimeNs(now_ns) / kNsPerMs),
          .load_permille = context_.loaded == nullptr ? progress.load_permille() : 0,
          .observers = presence.observers(),
          .driver_pid = static_cast<uint32_t>(presence.driver_pid()),
          // One that drives since a moment ago has driven for some time all the same.
          .driver_ms = static_cast<uint64_t>((presence.DriverNs(now_ns) + kNsPerMs - 1) / kNsPerMs),
      });
  return Outcome::kHandled;
}

linkw::EngineState DispatcherState::CurrentEngineState() const {
  const int64_t age_ns = context_.progress->StepAgeNs(compat::NowNs(self_));
  if (context_.progress->failed()) return linkw::EngineState::kFailed;
  if (context_.loaded == nullptr) return linkw::EngineState::kLoading;
  if (age_ns > absl::ToInt64Nanoseconds(context_.loaded->stall)) {
    return linkw::EngineState::kStalled;
  }
  if (session_.phase() == LinkPhase::kDraining) return linkw::EngineState::kDraining;
  const EngineProgress& progress = *context_.progress;
  const bool busy = age_ns > 0 || progress.jobs_started() > 0 || progress.open_ops() > 0;
  return busy ? linkw::EngineState::kBusy : linkw::EngineState::kIdle;
}

DispatcherState::Outcome DispatcherState::On(const Current& /*current*/,
                                             const linkw::Telemetry& telemetry) {
  spdlog::debug("telemetry.received link={} counters={}", static_cast<uint64_t>(context_.id),
                telemetry.counters.size());
  return Outcome::kHandled;
}

void DispatcherState::OnTelemetry() {
  if (session_.ended()) return;
  const EngineProgress& progress = *context_.progress;
  const MemoryCounters memory = progress.memory();
  linkw::Telemetry telemetry;
  const auto add = [&telemetry](const char* counter, uint64_t value) {
    telemetry.counters.push_back({.name = counter, .value = value});
  };
  add("engine.steps", progress.steps());
  add("engine.busy_us", static_cast<uint64_t>(progress.busy_ns() / 1000));
  add("ticks.done", progress.ticks());
  add("ticks.lanes", progress.lanes());
  add("ticks.tokens_in", progress.tokens_in());
  add("ticks.tokens_out", progress.tokens_out());
  add("lanes.active", progress.active_lanes(compat::NowNs(self_)));
  add("ops.open", progress.open_ops());
  add("ops.done", progress.ops_done());
  add("ops.bytes_moved", progress.op_bytes());
  add("transcriptions.open", progress.open_transcriptions());
  add("transcriptions.done", progress.transcriptions_done());
  add("requests.open", progress.open_requests());
  add("cancels", progress.cancels());
  add("mem.allocated_bytes", memory.allocated_bytes);
  add("mem.host_retained_bytes", memory.host_retained_bytes);
  add("mem.pool_blocks_total", memory.pool_blocks_total);
  add("mem.pool_blocks_used", memory.pool_blocks_used);
  add("mem.pool_bytes_evictable", memory.pool_bytes_evictable);
  add("mem.tentative_bytes", memory.tentative_bytes);
  compat::Send(
      self_, writer_,
      SendMessage{.correlation = 0,
                  .message = std::make_shared<const linkw::WorkerMessage>(std::move(telemetry))});
  SetAlarm(Alarm::kTelemetry, context_.limits.telemetry_period, SendTelemetry{});
}

void DispatcherState::OnDeadline() {
  CancelMany(requests_->TakeOverdue(compat::NowNs(self_)), CancelReason::kDeadline);
  ArmDeadlineTimer();
}

void DispatcherState::ArmDeadlineTimer() {
  const std::optional<int64_t> at_ns = requests_->NextAlarm();
  if (!at_ns) return;
  const int64_t delay_ns = std::max<int64_t>(*at_ns - compat::NowNs(self_), 0);
  SetAlarm(Alarm::kDeadline, absl::Nanoseconds(delay_ns), DeadlineReached{});
}

DispatcherState::Outcome DispatcherState::On(const Current& current,
                                             const linkw::DrainRequest& drain) {
  if (session_.drain().active()) {
    RefuseRequest(current, linkw::Status::kBusy, "the link is draining already");
    return Outcome::kHandled;
  }
  if (drain.shut_down) {
    ShutWorkerDown(current, drain);
    return Outcome::kHandled;
  }
  if (!session_.is_driver()) {
    RefuseRequest(current, linkw::Status::kPermissionDenied,
                  "an observer has nothing to drain; it may ask for the worker's end (shut_down)");
    return Outcome::kHandled;
  }
  BeginDrain(current.seq, ScopeOf(drain), PatienceOf(drain));
  FinishDrainIfIdle();
  return Outcome::kHandled;
}

// The Supervisor drains the other links, and then, with DrainLink, this one.
void DispatcherState::ShutWorkerDown(const Current& current, const linkw::DrainRequest& drain) {
  BeginDrain(current.seq, ScopeOf(drain), PatienceOf(drain));
  session_.drain().WaitForOthers();
  compat::Send(
      self_, context_.supervisor,
      ShutDown{.scope = ScopeOf(drain), .patience = PatienceOf(drain), .asked_by = context_.id});
}

void DispatcherState::OnDrainLink(const DrainLink& drain) {
  if (session_.ended()) return;
  if (session_.phase() == LinkPhase::kClaimingRole) {
    pending_drain_ = drain;
    return;
  }
  session_.EndAfterDrain();
  BeginDrain(0, drain.scope, drain.patience);
  session_.drain().ResumeAfterOthers(
      {.finished = drain.finished_elsewhere, .cancelled = drain.cancelled_elsewhere});
  FinishDrainIfIdle();
}

// A drain that is under way is taken over, with its answer and its counts; the first deadline of
// both that passes counts.
void DispatcherState::BeginDrain(uint64_t reply_to, DrainScope scope, absl::Duration patience) {
  const int64_t until_ns = patience < kForEver
                               ? compat::NowNs(self_) + absl::ToInt64Nanoseconds(patience)
                               : LinkDrain::kNoDeadline;
  const size_t open = session_.drain().active() ? 0 : requests_->MarkForDrain();
  const bool sooner = session_.BeginDrain(reply_to, open, until_ns).has_value();
  if (scope == DrainScope::kTranscriptions) CancelTranscriptions(CancelReason::kDraining);
  if (scope == DrainScope::kEverything) CancelAllOpen(CancelReason::kDraining);
  if (sooner) SetAlarm(Alarm::kDrain, patience, DrainOverdue{session_.drain().number()});
}

void DispatcherState::OnDrainOverdue(uint64_t drain) {
  if (!session_.drain().active() || session_.drain().number() != drain) return;
  CancelAllOpen(CancelReason::kDraining);
}

void DispatcherState::FinishDrainIfIdle() {
  if (session_.ended()) return;
  const std::optional<LinkDrain::Result> result = session_.drain().TakeResult(requests_->size());
  if (!result) return;
  // Of a drain that the peer alone asked for, the peer alone is told.
  if (session_.ends_after_drain()) drained_ = result->here;
  if (result->reply_to != 0) {
    Reply(result->reply_to, linkw::Drained{.finished = result->everywhere.finished,
                                           .cancelled = result->everywhere.cancelled});
  }
  if (session_.ends_after_drain()) {
    End(linkw::Error{.status = linkw::Status::kDraining,
                     .message = "the worker is shutting down",
                     .detail = {},
                     .fatal = true},
        "the worker is shutting down");
  }
}

}  // namespace superfluid
