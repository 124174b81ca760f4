// Ticks, state ops, and requests that are one call of the engine.

#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "actors/dispatcher.h"
#include "actors/refusal.h"
#include "actors/status_error.h"
#include "protocol/status.h"

namespace superfluid {
namespace {

constexpr absl::Duration kArtifactPatience = absl::Minutes(10);
constexpr absl::Duration kBufferPatience = absl::Seconds(30);
// A deadline further away than any clock reaches is none.
constexpr uint64_t kFarUs = uint64_t{1} << 50;

SequenceHandle ToEngine(linkw::SequenceId id) { return SequenceHandle{static_cast<uint64_t>(id)}; }

// The buffer that a call names.
std::optional<linkw::BufId> BufferOfCall(const linkw::DriverMessage& message) {
  const auto* request = std::get_if<linkw::StateSyncRequest>(&message);
  if (request == nullptr) return std::nullopt;
  const auto* stage = std::get_if<linkw::ForwardStage>(&request->call);
  if (stage == nullptr) return std::nullopt;
  const auto* span = std::get_if<linkw::BufferSpan>(&stage->hidden_in);
  return span == nullptr ? std::nullopt : std::optional(span->buf_id);
}

}  // namespace

// Whether the engine can serve such a request at all, and the link may have one more; else it was
// refused.
bool DispatcherState::MayGenerate(const Current& current, bool needs_rings) {
  if (!context_.engine_generates) {
    RefuseRequest(current, linkw::Status::kUnsupported,
                  absl::StrCat("the engine '", context_.engine_info.name, "' does not serve ",
                               std::string(linkw::MessageTypeName(current.type))));
    return false;
  }
  if (needs_rings && !rings_attached_) {
    RefuseRequest(current, linkw::Status::kFailedPrecondition,
                  absl::StrCat(std::string(linkw::MessageTypeName(current.type)),
                               " before all three rings are attached"));
    return false;
  }
  if (Unanswered() >= context_.limits.max_open_requests) {
    RefuseRequest(current, linkw::Status::kBusy,
                  absl::StrCat(Unanswered(), " requests are open, the most that a link may have"));
    return false;
  }
  return true;
}

DispatcherState::Outcome DispatcherState::On(const Current& current, linkw::TickSubmit tick) {
  if (!MayGenerate(current, true)) return Outcome::kHandled;
  const int64_t now_ns = compat::NowNs(self_);
  auto token = std::make_shared<CancelToken>();
  int64_t deadline_ns = 0;
  if (const uint64_t us = tick.plan.deadline_us; us != 0) {
    if (us < kFarUs) {
      deadline_ns = now_ns + static_cast<int64_t>(us) * 1000;
      deadlines_.Add(current.seq, deadline_ns);
      ArmDeadlineTimer();
    }
  }
  open_.emplace(current.seq, OpenRequest{.kind = RequestKind::kTick, .token = token});
  compat::Send(self_, context_.engine,
               QueueTick{.key = {context_.id, current.seq},
                         .message = std::make_shared<const linkw::DriverMessage>(std::move(tick)),
                         .token = std::move(token),
                         .received_ns = now_ns,
                         .deadline_ns = deadline_ns,
                         .writer = writer_,
                         .dispatcher = Dispatcher(self_),
                         .credit = current.Kept().credit});
  return Outcome::kHandled;
}

DispatcherState::Outcome DispatcherState::On(const Current& current,
                                             const linkw::StateOpSubmit& submit) {
  if (!MayGenerate(current, false)) return Outcome::kHandled;
  const RequestKey key{context_.id, current.seq};
  auto token = std::make_shared<CancelToken>();
  const linkw::OpHandle handle{++last_op_};
  open_.emplace(current.seq, OpenRequest{.kind = RequestKind::kOp, .token = token, .op = handle});
  // The engine first: what is sent after this op must not overtake it while its buffer is read.
  compat::Send(self_, context_.engine,
               ReserveOp{.key = key, .sequence = ToEngine(SequenceOf(submit.op))});
  compat::Send(
      self_, state_ops_,
      SubmitOp{.seq = current.seq, .handle = handle, .op = submit.op, .token = std::move(token)});
  return Outcome::kHandled;
}

// Idempotent and without a reply: an op that is over, or never was, is ignored.
DispatcherState::Outcome DispatcherState::On(const Current& /*current*/,
                                             const linkw::OpCancel& cancel) {
  for (const auto& [seq, request] : open_) {
    if (request.kind != RequestKind::kOp || request.op != cancel.op_handle) continue;
    CancelOpen(seq, CancelReason::kRequested);
    break;
  }
  return Outcome::kHandled;
}

DispatcherState::Outcome DispatcherState::On(const Current& current, linkw::MatchRequest match) {
  if (MayGenerate(current, true)) CallEngine(current, linkw::DriverMessage(std::move(match)));
  return Outcome::kHandled;
}

DispatcherState::Outcome DispatcherState::On(const Current& current, linkw::SeedAcquire acquire) {
  if (MayGenerate(current, true)) CallEngine(current, linkw::DriverMessage(std::move(acquire)));
  return Outcome::kHandled;
}

// Idempotent and without a reply; in order with what was sent before.
DispatcherState::Outcome DispatcherState::On(const Current& current, linkw::SeedRelease release) {
  if (context_.engine_generates) CallEngine(current, linkw::DriverMessage(release));
  return Outcome::kHandled;
}

DispatcherState::Outcome DispatcherState::On(const Current& current,
                                             linkw::StrategyRegister strategy) {
  if (!MayGenerate(current, false)) return Outcome::kHandled;
  if (artifact_checker_ == nullptr) {
    artifact_checker_ =
        compat::Spawn(*self_, context_.placement, ArtifactCheckerBehavior, context_.model_root);
  }
  // Cancelled by a drain, or when the link ends: files may be large.
  auto token = std::make_shared<CancelToken>();
  open_.emplace(current.seq, OpenRequest{.kind = RequestKind::kCall, .token = token});
  compat::Request(self_, artifact_checker_, kArtifactPatience,
                  CheckArtifacts{.strategy = std::make_shared<const linkw::StrategyRegister>(
                                     std::move(strategy)),
                                 .token = std::move(token)})
      .then(
          [this, current = current.Kept()](const ArtifactsChecked& checked) {
            if (!checked.status.ok()) {
              return FailCall(current, linkw::FromAbsl(checked.status),
                              std::string(checked.status.message()));
            }
            SendCall(current,
                     {.key = {context_.id, current.seq},
                      .message = std::make_shared<const linkw::DriverMessage>(*checked.strategy),
                      .segment = {},
                      .keep_alive = checked.files});
          },
          [this, current = current.Kept()](const caf::error& error) {
            FailCall(current, linkw::Status::kInternal, std::string(ToStatus(error).message()));
          });
  return Outcome::kHandled;
}

void DispatcherState::CallEngine(const Current& current, linkw::DriverMessage message) {
  open_.emplace(current.seq, OpenRequest{});
  const std::optional<linkw::BufId> buffer = BufferOfCall(message);
  auto shared = std::make_shared<const linkw::DriverMessage>(std::move(message));
  if (buffer) return CallWithBuffer(current, *buffer, shared);
  SendCall(current, {.key = {context_.id, current.seq},
                     .message = std::move(shared),
                     .segment = {},
                     .keep_alive = {}});
}

void DispatcherState::CallWithBuffer(const Current& current, linkw::BufId buffer,
                                     const std::shared_ptr<const linkw::DriverMessage>& message) {
  compat::Request(self_, state_ops_, kBufferPatience, LendBuffer{buffer})
      .then(
          [this, current = current.Kept(), message](const BufferBound& bound) {
            if (!bound.status.ok()) {
              return FailCall(current, linkw::Status::kUnknownHandle,
                              std::string(bound.status.message()));
            }
            SendCall(current, {.key = {context_.id, current.seq},
                               .message = message,
                               .segment = bound.segment,
                               .keep_alive = {}});
          },
          [this, current = current.Kept()](const caf::error& error) {
            FailCall(current, linkw::Status::kInternal, std::string(ToStatus(error).message()));
          });
}

void DispatcherState::SendCall(const Current& current, RunCall call) {
  if (phase_ == LinkPhase::kEnded) return;
  compat::Request(self_, context_.engine, context_.limits.engine_patience, std::move(call))
      .then(
          [this, current = current.Kept()](const CallDone& done) {
            if (!open_.contains(current.seq)) return;
            // A release has no reply.
            if (current.type != linkw::MessageType::kSeedRelease) Reply(current.seq, *done.answer);
            OnRequestFinished({.seq = current.seq});
          },
          [this, current = current.Kept()](const caf::error& error) {
            const absl::Status status = ToStatus(error);
            FailCall(current,
                     absl::IsDeadlineExceeded(status) ? linkw::Status::kEngineStalled
                                                      : linkw::Status::kEngineFailed,
                     std::string(status.message()));
          });
}

void DispatcherState::FailCall(const Current& current, linkw::Status status, std::string text) {
  if (!open_.contains(current.seq) || phase_ == LinkPhase::kEnded) return;
  if (current.type != linkw::MessageType::kSeedRelease) {
    RefuseRequest(current, status, std::move(text));
  }
  OnRequestFinished({.seq = current.seq});
}

}  // namespace superfluid
