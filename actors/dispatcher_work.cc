// The work that a link asks for: transcriptions and state calls.

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "actors/dispatcher.h"
#include "actors/refusal.h"
#include "actors/status_error.h"
#include "actors/transcriber.h"
#include "protocol/status.h"

namespace superfluid {

DispatcherState::Outcome DispatcherState::On(const Current& current,
                                             linkw::StateSyncRequest request) {
  if (std::holds_alternative<linkw::Capabilities>(request.call)) {
    Reply(current.seq, linkw::StateSyncResult{
                           .status = linkw::Status::kOk,
                           .message = {},
                           .reply = linkw::CapabilitiesResult{context_.hello->capabilities_json}});
  } else if (role_ != linkw::Role::kDriver) {
    RefuseRequest(current, linkw::Status::kPermissionDenied,
                  "an observer may make no state call but CAPABILITIES");
  } else if (open_.size() >= context_.limits.max_open_requests) {
    RefuseRequest(current, linkw::Status::kBusy,
                  absl::StrCat(open_.size(), " requests are open, the most that a link may have"));
  } else if (std::holds_alternative<linkw::Transcribe>(request.call)) {
    StartTranscription(current, std::move(request));
  } else {
    RunInEngine(current, std::move(request));
  }
  return Outcome::kHandled;
}

void DispatcherState::StartTranscription(const Current& current, linkw::StateSyncRequest request) {
  if (cancelled_held_.erase(current.seq) > 0) {
    return RefuseRequest(current, linkw::Status::kCancelled, "cancelled");
  }
  if (context_.engine_info.max_transcriptions == 0) {
    return RefuseRequest(
        current, linkw::Status::kUnsupported,
        absl::StrCat("the engine '", context_.engine_info.name, "' does not transcribe"));
  }
  if (OpenTranscriptions() >= context_.limits.max_transcriptions) {
    return RefuseRequest(current, linkw::Status::kBusy,
                         absl::StrCat(context_.limits.max_transcriptions,
                                      " transcriptions are open, the most that a link may have"));
  }
  auto token = std::make_shared<CancelToken>();
  TranscriberContext context{.key = {context_.id, current.seq},
                             .token = token,
                             .dispatcher = Dispatcher(self_),
                             .writer = writer_,
                             .engine = context_.engine,
                             .media_root = context_.media_root};
  const auto& transcribe = std::get<linkw::Transcribe>(request.call);
  std::optional<linkw::BufId> buffer;
  if (const auto* spec = std::get_if<linkw::AudioBuffer>(&transcribe.audio)) buffer = spec->buf_id;
  if (const uint32_t ms = transcribe.deadline_ms; ms != 0) {
    context.deadline_ns = compat::NowNs(self_) + int64_t{ms} * 1'000'000;
    deadlines_.Add(current.seq, context.deadline_ns);
    ArmDeadlineTimer();
  }
  Transcriber transcriber =
      compat::Spawn(*self_, compat::Placement::kPooled, TranscriberBehavior, std::move(context),
                    std::make_shared<const linkw::StateSyncRequest>(std::move(request)));
  self_->monitor(transcriber);
  if (buffer) compat::Send(self_, state_ops_, BindBuffer{.id = *buffer, .user = transcriber});
  open_.emplace(current.seq, OpenRequest{.transcriber = transcriber, .token = std::move(token)});
}

void DispatcherState::RunInEngine(const Current& current, linkw::StateSyncRequest request) {
  const uint64_t seq = current.seq;
  open_.emplace(seq, OpenRequest{});
  const auto answer = [this, seq](const linkw::StateSyncResult& result) {
    if (!open_.contains(seq)) return;
    Reply(seq, result);
    OnRequestFinished(seq);
  };
  compat::Request(
      self_, context_.engine, context_.limits.engine_patience,
      RunStateCall{.key = {context_.id, seq},
                   .call = std::make_shared<const linkw::StateSyncRequest>(std::move(request))})
      .then([answer](const StateCallDone& done) { answer(*done.result); },
            [answer](const caf::error& error) {
              const absl::Status status = ToStatus(error);
              answer({.status = absl::IsDeadlineExceeded(status) ? linkw::Status::kEngineStalled
                                                                 : linkw::Status::kEngineFailed,
                      .message = std::string(status.message()),
                      .reply = {}});
            });
}

void DispatcherState::OnRequestFinished(uint64_t seq) {
  open_.erase(seq);
  deadlines_.Remove(seq);
  FinishDrainIfIdle();
}

DispatcherState::Outcome DispatcherState::On(const Current& /*current*/,
                                             const linkw::TranscribeCancel& cancel) {
  if (cancel.request_seq == 0) {
    CancelAllOpen(CancelReason::kRequested);
  } else {
    CancelOpen(cancel.request_seq, CancelReason::kRequested);
  }
  CancelHeld(cancel.request_seq);
  return Outcome::kHandled;
}

// The token first: the engine sees it at once, wherever it is; the message makes sure that a job
// that is not being stepped ends now, too.
void DispatcherState::CancelOpen(uint64_t seq, CancelReason reason) {
  const auto it = open_.find(seq);
  if (it == open_.end() || it->second.token == nullptr) return;
  it->second.token->Cancel(reason, [this] { return compat::NowNs(self_); });
  compat::SendUrgent(self_, context_.engine, CancelJob{{context_.id, seq}});
  compat::SendUrgent(self_, it->second.transcriber, CancelTranscription{reason});
}

void DispatcherState::CancelAllOpen(CancelReason reason) {
  for (const auto& [seq, request] : open_) CancelOpen(seq, reason);
}

// A transcription that is held back behind a missing descriptor is not open yet: it is remembered,
// and answered CANCELLED when its turn comes. Only what is held is remembered, so this stays small.
void DispatcherState::CancelHeld(uint64_t seq) {
  for (const HeldFrame& held : held_) {
    if (held.frame->type() != linkw::MessageType::kStateSyncRequest) continue;
    if (seq == 0 || held.frame->header.seq == seq) cancelled_held_.insert(held.frame->header.seq);
  }
}

size_t DispatcherState::OpenTranscriptions() const {
  return static_cast<size_t>(std::count_if(
      open_.begin(), open_.end(), [](const auto& entry) { return entry.second.token != nullptr; }));
}

// Audio for a request that has ended, or was never there, is ignored: the peer may not know yet.
DispatcherState::Outcome DispatcherState::On(const Current& current, linkw::TranscribeAudio audio) {
  const auto it = open_.find(audio.request_seq);
  if (it != open_.end() && it->second.transcriber != nullptr) {
    if (const auto* span = std::get_if<linkw::BufferSpan>(&audio.data)) {
      compat::Send(self_, state_ops_,
                   BindBuffer{.id = span->buf_id, .user = it->second.transcriber});
    }
    compat::Send(
        self_, it->second.transcriber,
        LiveAudioReceived{.audio = std::make_shared<const linkw::TranscribeAudio>(std::move(audio)),
                          .credit = current.credit});
  }
  return Outcome::kHandled;
}

DispatcherState::Outcome DispatcherState::On(const Current& current,
                                             const linkw::TickSubmit& /*tick*/) {
  if (!RingsAttached()) {
    RefuseRequest(current, linkw::Status::kFailedPrecondition,
                  "a tick before all three rings are attached");
  } else {
    RefuseUnsupported(current);
  }
  return Outcome::kHandled;
}

DispatcherState::Outcome DispatcherState::On(const Current& current,
                                             const linkw::MatchRequest& /*match*/) {
  RefuseUnsupported(current);
  return Outcome::kHandled;
}

DispatcherState::Outcome DispatcherState::On(const Current& current,
                                             const linkw::SeedAcquire& /*acquire*/) {
  RefuseUnsupported(current);
  return Outcome::kHandled;
}

// Idempotent and without a reply; no engine grants seeds yet, so every handle is one that is gone.
DispatcherState::Outcome DispatcherState::On(const Current& /*current*/,
                                             const linkw::SeedRelease& /*release*/) {
  return Outcome::kHandled;
}

DispatcherState::Outcome DispatcherState::On(const Current& current,
                                             const linkw::StateOpSubmit& /*submit*/) {
  RefuseUnsupported(current);
  return Outcome::kHandled;
}

// Idempotent and without a reply; no engine accepts ops yet, so every handle is one that is done.
DispatcherState::Outcome DispatcherState::On(const Current& /*current*/,
                                             const linkw::OpCancel& /*cancel*/) {
  return Outcome::kHandled;
}

DispatcherState::Outcome DispatcherState::On(const Current& current,
                                             const linkw::StrategyRegister& /*strategy*/) {
  RefuseUnsupported(current);
  return Outcome::kHandled;
}

void DispatcherState::RefuseUnsupported(const Current& current) {
  RefuseRequest(current, linkw::Status::kUnsupported,
                absl::StrCat("the engine '", context_.engine_info.name, "' does not serve ",
                             std::string(linkw::MessageTypeName(current.type))));
}

}  // namespace superfluid
