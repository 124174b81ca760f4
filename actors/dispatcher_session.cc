// Handshake, health, deadlines and drain of one link.

#include <algorithm>
#include <utility>

#include "actors/dispatcher.h"
#include "actors/printable.h"
#include "actors/refusal.h"
#include "actors/status_error.h"
#include "protocol/status.h"
#include "protocol/version.h"
#include "spdlog/spdlog.h"

namespace superfluid {
namespace {

// The Supervisor answers when the engine has cleaned up after the previous driver.
constexpr absl::Duration kClaimPatience = absl::Minutes(1);

linkw::MemCounters ToWire(const MemoryCounters& memory) {
  return {.allocated_bytes = memory.allocated_bytes,
          .host_retained_bytes = memory.host_retained_bytes,
          .pool_blocks_total = memory.pool_blocks_total,
          .pool_blocks_used = memory.pool_blocks_used,
          .pool_bytes_evictable = memory.pool_bytes_evictable,
          .tentative_bytes = memory.tentative_bytes};
}

}  // namespace

DispatcherState::Outcome DispatcherState::On(const Current& current, const linkw::Hello& hello) {
  const absl::StatusOr<uint16_t> version = linkw::Negotiate(hello.proto_versions);
  if (!version.ok()) {
    LinkError(version.status());
    return Outcome::kHandled;
  }
  client_name_ = hello.client_name;
  role_ = hello.role;
  if (role_ == linkw::Role::kObserver) {
    Open(current.seq, *version);
    return Outcome::kHandled;
  }
  phase_ = LinkPhase::kClaimingDriver;
  compat::Request(self_, context_.supervisor, kClaimPatience, ClaimDriver{context_.id})
      .then(
          [this, seq = current.seq, version = *version](const DriverClaimed& claimed) {
            if (phase_ != LinkPhase::kClaimingDriver) return;
            if (!claimed.status.ok()) return LinkError(claimed.status);
            Open(seq, version);
            HandleHeld();
          },
          [this](const caf::error& error) { LinkError(ToStatus(error)); });
  return Outcome::kHandled;
}

void DispatcherState::Open(uint64_t hello_seq, uint16_t version) {
  phase_ = LinkPhase::kOpen;
  linkw::HelloAck ack = *context_.hello;
  ack.chosen_version = version;
  if (role_ == linkw::Role::kDriver) ack.link_token = context_.token;
  spdlog::info("link.ready link={} client=\"{}\" role={} version={}",
               static_cast<uint64_t>(context_.id), Printable(client_name_),
               role_ == linkw::Role::kDriver ? "driver" : "observer", version);
  Reply(hello_seq, std::move(ack));
  if (pending_drain_) OnDrainLink(*std::exchange(pending_drain_, std::nullopt));
}

DispatcherState::Outcome DispatcherState::On(const Current& current, const linkw::Ping& /*ping*/) {
  const EngineProgress& progress = *context_.progress;
  Reply(current.seq,
        linkw::Pong{
            .queue_depth = progress.jobs_waiting(),
            .open_ops = 0,
            .open_transcriptions = progress.jobs_waiting() + progress.jobs_started(),
            .mem = ToWire(progress.memory()),
            .engine_busy_us = static_cast<uint64_t>(progress.busy_ns() / 1000),
            .engine_state = CurrentEngineState(),
            .engine_steps = progress.steps(),
            .step_age_us = static_cast<uint64_t>(progress.StepAgeNs(compat::NowNs(self_)) / 1000),
        });
  return Outcome::kHandled;
}

linkw::EngineState DispatcherState::CurrentEngineState() const {
  const int64_t age_ns = context_.progress->StepAgeNs(compat::NowNs(self_));
  if (context_.progress->failed()) return linkw::EngineState::kFailed;
  if (age_ns > absl::ToInt64Nanoseconds(context_.engine_stall)) {
    return linkw::EngineState::kStalled;
  }
  if (phase_ == LinkPhase::kDraining) return linkw::EngineState::kDraining;
  const bool busy = age_ns > 0 || context_.progress->jobs_started() > 0;
  return busy ? linkw::EngineState::kBusy : linkw::EngineState::kIdle;
}

DispatcherState::Outcome DispatcherState::On(const Current& /*current*/,
                                             const linkw::Telemetry& telemetry) {
  spdlog::debug("telemetry.received link={} counters={}", static_cast<uint64_t>(context_.id),
                telemetry.counters.size());
  return Outcome::kHandled;
}

void DispatcherState::OnDeadline() {
  deadlines_.TimerFired();
  for (const uint64_t seq : deadlines_.TakePassed(compat::NowNs(self_))) {
    CancelOpen(seq, CancelReason::kDeadline);
  }
  ArmDeadlineTimer();
}

void DispatcherState::ArmDeadlineTimer() {
  const std::optional<int64_t> at_ns = deadlines_.NextTimer();
  if (!at_ns) return;
  const int64_t delay_ns = std::max<int64_t>(*at_ns - compat::NowNs(self_), 0);
  compat::SendAfter(self_, Dispatcher(self_), absl::Nanoseconds(delay_ns), DeadlineReached{});
}

DispatcherState::Outcome DispatcherState::On(const Current& current,
                                             const linkw::DrainRequest& drain) {
  if (drain_) {
    RefuseRequest(current, linkw::Status::kBusy, "the link is draining already");
    return Outcome::kHandled;
  }
  BeginDrain(
      current.seq, drain.cancel_transcriptions,
      drain.deadline_ms == 0 ? absl::InfiniteDuration() : absl::Milliseconds(drain.deadline_ms));
  return Outcome::kHandled;
}

void DispatcherState::OnDrainLink(const DrainLink& drain) {
  if (phase_ == LinkPhase::kEnded) return;
  if (phase_ == LinkPhase::kClaimingDriver) {
    pending_drain_ = drain;
    return;
  }
  ends_after_drain_ = true;
  // A drain that the peer asked for is taken over, and still answered.
  BeginDrain(drain_ ? drain_->reply_to : 0, drain.cancel_open, drain.patience);
}

void DispatcherState::BeginDrain(uint64_t reply_to, bool cancel_open, absl::Duration patience) {
  phase_ = LinkPhase::kDraining;
  drain_ = Drain{.number = ++drains_, .reply_to = reply_to, .open_at_start = open_.size()};
  if (cancel_open) {
    drain_->cancelled = static_cast<uint32_t>(OpenTranscriptions());
    CancelAllOpen(CancelReason::kDraining);
  }
  if (patience != absl::InfiniteDuration()) {
    compat::SendAfter(self_, Dispatcher(self_), patience, DrainOverdue{drain_->number});
  }
  FinishDrainIfIdle();
}

void DispatcherState::OnDrainOverdue(uint64_t drain) {
  if (!drain_ || drain_->number != drain) return;
  drain_->cancelled = static_cast<uint32_t>(OpenTranscriptions());
  CancelAllOpen(CancelReason::kDraining);
}

void DispatcherState::FinishDrainIfIdle() {
  if (!drain_ || !open_.empty() || phase_ == LinkPhase::kEnded) return;
  const Drain drain = *std::exchange(drain_, std::nullopt);
  if (drain.reply_to != 0) {
    const size_t ended = drain.open_at_start;
    const uint32_t cancelled = std::min(drain.cancelled, static_cast<uint32_t>(ended));
    Reply(drain.reply_to, linkw::Drained{.finished = static_cast<uint32_t>(ended) - cancelled,
                                         .cancelled = cancelled});
  }
  if (ends_after_drain_) {
    End(linkw::Error{.status = linkw::Status::kDraining,
                     .message = "the worker is shutting down",
                     .detail = {},
                     .fatal = true},
        "the worker is shutting down");
  }
}

}  // namespace superfluid
