// Transcriptions and state calls of a link, and the end of its requests.

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "actors/dispatch/dispatcher.h"
#include "actors/runtime/engine_status.h"
#include "actors/runtime/refusal.h"
#include "actors/runtime/status_error.h"
#include "actors/transcription/transcriber.h"
#include "protocol/messages/status.h"
#include "shm/control.h"

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
  } else if (!HasRoomForRequest()) {
    RefuseRequest(current, linkw::Status::kBusy,
                  absl::StrCat(Unanswered(), " requests are open, the most that a link may have"));
  } else if (std::holds_alternative<linkw::Transcribe>(request.call)) {
    StartTranscription(current, std::move(request));
  } else {
    CallEngine(current, linkw::DriverMessage(std::move(request)));
  }
  return Outcome::kHandled;
}

void DispatcherState::StartTranscription(const Current& current, linkw::StateSyncRequest request) {
  if (current.cancelled) {
    return RefuseRequest(current, linkw::Status::kCancelled, "cancelled");
  }
  if (context_.engine_info.max_transcriptions == 0) {
    return RefuseRequest(
        current, linkw::Status::kUnsupported,
        absl::StrCat("the engine '", context_.engine_info.name, "' does not transcribe"));
  }
  if (UnansweredOf(RequestKind::kTranscription) >= context_.limits.max_transcriptions) {
    return RefuseRequest(current, linkw::Status::kBusy,
                         absl::StrCat(context_.limits.max_transcriptions,
                                      " transcriptions are open, the most that a link may have"));
  }
  const auto& transcribe = std::get<linkw::Transcribe>(request.call);
  if (transcribe.control_slot > kControlTranscriptionSlots) {
    return RefuseRequest(current, linkw::Status::kInvalidArgument,
                         absl::StrCat("there is no stop word ", transcribe.control_slot, " (1 to ",
                                      kControlTranscriptionSlots, ")"));
  }
  auto token = std::make_shared<RequestToken>(context_.progress);
  TranscriberContext context{.key = {context_.id, current.seq},
                             .token = token,
                             .open = std::make_shared<OpenTranscriptionCount>(context_.progress),
                             .dispatcher = Dispatcher(self_),
                             .writer = writer_,
                             .engine = context_.engine,
                             .readers = context_.readers,
                             .media_root = context_.media_root,
                             .max_frame = context_.limits.max_frame};
  const bool takes_audio = std::holds_alternative<linkw::AudioLive>(transcribe.audio);
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
  open_.emplace(current.seq, OpenRequest{.kind = RequestKind::kTranscription,
                                         .token = std::move(token),
                                         .transcriber = transcriber,
                                         .takes_audio = takes_audio});
}

void DispatcherState::OnAnswerFollows(const AnswerFollows& follows) {
  const auto it = open_.find(follows.seq);
  if (it == open_.end() || std::exchange(it->second.answered, true)) return;
  ++answered_;
}

void DispatcherState::OnRequestFinished(const RequestFinished& finished) {
  unsent_replies_ += finished.replies;
  const auto it = open_.find(finished.seq);
  if (it == open_.end()) return;
  if (drain_ && it->second.token != nullptr && it->second.token->cancelled()) ++drain_->cancelled;
  if (it->second.answered) --answered_;
  if (it->second.kind == RequestKind::kRelease) --releases_;
  open_.erase(it);
  deadlines_.Remove(finished.seq);
  FinishDrainIfIdle();
}

DispatcherState::Outcome DispatcherState::On(const Current& /*current*/,
                                             const linkw::TranscribeCancel& cancel) {
  const auto it = open_.find(cancel.request_seq);
  if (cancel.request_seq == 0) {
    CancelTranscriptions(CancelReason::kRequested);
  } else if (it != open_.end() && (it->second.kind == RequestKind::kTranscription ||
                                   it->second.kind == RequestKind::kCall)) {
    CancelOpen(cancel.request_seq, CancelReason::kRequested);
  }
  CancelHeld(cancel.request_seq);
  return Outcome::kHandled;
}

// The token first: the engine sees it at once, wherever it is; the message makes sure that a job
// that is not being stepped ends now, too. Once: a peer may ask again and again. A tick that waits
// is answered here, since the engine may be inside a long step.
void DispatcherState::CancelOpen(uint64_t seq, CancelReason reason) {
  const auto it = open_.find(seq);
  if (it == open_.end() || it->second.token == nullptr) return;
  const OpenRequest& request = it->second;
  if (!request.token->Cancel(reason, [this] { return compat::NowNs(self_); })) return;
  compat::SendUrgent(self_, context_.engine, CancelJob{{context_.id, seq}});
  compat::SendUrgent(self_, request.transcriber, CancelTranscription{reason});
  if (request.kind != RequestKind::kTick || phase_ == LinkPhase::kEnded) return;
  if (request.token->EndWaiting()) AnswerWaitingTick(seq, request.token->reason());
}

// It stays open until the engine has let go of it, so that the engine's mailbox is bounded.
void DispatcherState::AnswerWaitingTick(uint64_t seq, CancelReason reason) {
  const absl::Status stopped = StoppedStatus(reason);
  OnAnswerFollows({.seq = seq});
  Reply(seq, linkw::TickResult{
                 .status = linkw::FromAbsl(stopped), .message = MessageOf(stopped), .events = {}});
}

void DispatcherState::CancelTranscriptions(CancelReason reason) {
  for (const auto& [seq, request] : open_) {
    if (request.kind == RequestKind::kTranscription) CancelOpen(seq, reason);
  }
}

void DispatcherState::CancelAllOpen(CancelReason reason) {
  for (const auto& [seq, request] : open_) CancelOpen(seq, reason);
}

// A transcription that is held back behind a missing descriptor is not open yet: it is answered
// CANCELLED when its turn comes.
void DispatcherState::CancelHeld(uint64_t seq) {
  for (HeldFrame& held : held_) {
    if (held.frame->type() != linkw::MessageType::kStateSyncRequest) continue;
    if (seq == 0 || held.frame->header.seq == seq) held.cancelled = true;
  }
}

size_t DispatcherState::Unanswered() const { return open_.size() - answered_; }

// Requests that were answered while they waited are with the engine until its step is over: they
// take no one's place, but there are not more of them than places.
bool DispatcherState::HasRoomForRequest() const {
  const size_t most = context_.limits.max_open_requests;
  return Unanswered() < most && open_.size() - releases_ < 2 * most;
}

size_t DispatcherState::UnansweredOf(RequestKind kind) const {
  return static_cast<size_t>(std::count_if(open_.begin(), open_.end(), [kind](const auto& entry) {
    return entry.second.kind == kind && !entry.second.answered;
  }));
}

// Audio for a request that has ended, was never there or takes none is ignored: the peer may not
// know yet.
DispatcherState::Outcome DispatcherState::On(const Current& current, linkw::TranscribeAudio audio) {
  const auto it = open_.find(audio.request_seq);
  if (it != open_.end() && it->second.takes_audio) {
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

}  // namespace superfluid
