// Transcriptions and state calls of a link, and the end of its requests.

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "actors/dispatch/dispatcher.h"
#include "actors/runtime/engine_status.h"
#include "actors/runtime/printable.h"
#include "actors/runtime/refusal.h"
#include "actors/runtime/status_error.h"
#include "actors/transcription/transcriber.h"
#include "protocol/messages/status.h"
#include "shm/control.h"
#include "spdlog/spdlog.h"

namespace superfluid {

DispatcherState::Outcome DispatcherState::On(const Current& current,
                                             linkw::StateSyncRequest request) {
  if (std::holds_alternative<linkw::Capabilities>(request.call)) {
    Reply(current.seq, linkw::StateSyncResult{.status = linkw::Status::kOk,
                                              .message = {},
                                              .reply = linkw::CapabilitiesResult{
                                                  context_.loaded->hello.capabilities_json}});
  } else if (!session_.is_driver()) {
    RefuseRequest(current, linkw::Status::kPermissionDenied,
                  "an observer may make no state call but CAPABILITIES");
  } else if (!requests_->HasRoom()) {
    RefuseRequest(
        current, linkw::Status::kBusy,
        absl::StrCat(requests_->unanswered(), " requests are open, the most that a link may have"));
  } else if (std::holds_alternative<linkw::Transcribe>(request.call)) {
    StartTranscription(current, std::move(request));
  } else {
    CallEngine(current, linkw::DriverMessage(std::move(request)));
  }
  return Outcome::kHandled;
}

void DispatcherState::StartTranscription(const Current& current, linkw::StateSyncRequest request) {
  if (RefuseIfCancelled(current, RequestKind::kTranscription)) return;
  if (context_.loaded->info.max_transcriptions == 0) {
    return RefuseRequest(
        current, linkw::Status::kUnsupported,
        absl::StrCat("the engine '", context_.loaded->info.name, "' does not transcribe"));
  }
  if (!requests_->HasRoomForTranscription()) {
    return RefuseRequest(current, linkw::Status::kBusy,
                         absl::StrCat(context_.limits.max_transcriptions,
                                      " transcriptions are open, the most that a link may have"));
  }
  const auto& transcribe = std::get<linkw::Transcribe>(request.call);
  if (transcribe.control_slot > kControlTranscriptionSlots) {
    return RefuseTranscription(current.seq, linkw::Status::kInvalidArgument,
                               absl::StrCat("there is no stop word ", transcribe.control_slot,
                                            " (1 to ", kControlTranscriptionSlots, ")"));
  }
  auto token = std::make_shared<RequestToken>(context_.progress);
  TranscriberContext context{.key = {context_.id, current.seq},
                             .token = token,
                             .open = std::make_shared<OpenTranscriptionCount>(context_.progress),
                             .dispatcher = Dispatcher(self_),
                             .writer = writer_,
                             .replies = replies_,
                             .engine = context_.engine,
                             .readers = context_.readers,
                             .audio_copies = context_.audio_copies,
                             .media_root = context_.media_root,
                             .max_frame = context_.limits.max_frame};
  const bool takes_audio = std::holds_alternative<linkw::AudioLive>(transcribe.audio);
  std::optional<linkw::BufId> buffer;
  if (const auto* spec = std::get_if<linkw::AudioBuffer>(&transcribe.audio)) buffer = spec->buf_id;
  if (const uint32_t ms = transcribe.deadline_ms; ms != 0) {
    context.deadline_ns = current.since_ns + int64_t{ms} * 1'000'000;
  }
  const int64_t deadline_ns = context.deadline_ns;
  Transcriber transcriber =
      compat::Spawn(*self_, compat::Placement::kPooled, TranscriberBehavior, std::move(context),
                    std::make_shared<const linkw::StateSyncRequest>(std::move(request)));
  self_->monitor(transcriber);
  transcribers_.emplace(transcriber.address(), current.seq);
  if (buffer) compat::Send(self_, state_ops_, BindBuffer{.id = *buffer, .user = transcriber});
  requests_->Open(
      current.seq,
      {.kind = RequestKind::kTranscription, .token = std::move(token), .deadline_ns = deadline_ns},
      Work{.transcriber = transcriber, .takes_audio = takes_audio});
  ArmDeadlineTimer();
}

void DispatcherState::RefuseTranscription(uint64_t seq, linkw::Status status, std::string text) {
  spdlog::debug("transcription.refused link={} seq={} status={} reason=\"{}\"",
                static_cast<uint64_t>(context_.id), seq, linkw::StatusName(status),
                Printable(text));
  Reply(seq, linkw::StateSyncResult{
                 .status = status, .message = std::move(text), .reply = linkw::TranscribeResult{}});
}

void DispatcherState::OnRequestFinished(const RequestFinished& finished) {
  const std::optional<Requests::Entry> ended = requests_->Finish(finished.seq);
  if (!ended) return;
  if (ended->details.transcriber != nullptr) {
    transcribers_.erase(ended->details.transcriber.address());
  }
  if (ended->in_drain) {
    session_.drain().NoteEnd(ended->token == nullptr ? CancelReason::kNone
                                                     : ended->token->reason());
  }
  FinishDrainIfIdle();
}

DispatcherState::Outcome DispatcherState::On(const Current& /*current*/,
                                             const linkw::TranscribeCancel& cancel) {
  const Requests::Entry* const request = requests_->Find(cancel.request_seq);
  if (cancel.request_seq == 0) {
    CancelTranscriptions(CancelReason::kRequested);
    AnswerHeld(held_.CancelTranscriptions());
    return Outcome::kHandled;
  }
  if (request != nullptr &&
      (request->kind == RequestKind::kTranscription || request->kind == RequestKind::kCall)) {
    CancelOpen(cancel.request_seq, CancelReason::kRequested);
  }
  AnswerHeld(held_.Cancel(cancel.request_seq));
  return Outcome::kHandled;
}

// What waits behind a missing descriptor need not wait for it any more.
void DispatcherState::AnswerHeld(const std::deque<HeldFrame>& cancelled) {
  for (const HeldFrame& held : cancelled) Handle(held);
  if (!cancelled.empty()) HandleHeld();
}

// The token first: the engine sees it at once, wherever it is; the message makes sure that a job
// that is not being stepped ends now, too.
void DispatcherState::CancelOpen(uint64_t seq, CancelReason reason) {
  if (Stop(seq, reason)) compat::SendUrgent(self_, context_.engine, CancelJob{{context_.id, seq}});
}

// The engine is told once, of all.
void DispatcherState::CancelMany(const std::vector<uint64_t>& seqs, CancelReason reason) {
  bool any = false;
  for (const uint64_t seq : seqs) any |= Stop(seq, reason);
  if (any) compat::SendUrgent(self_, context_.engine, CancelJob{{context_.id, 0}});
}

// Sets a request's token and returns whether the engine has to hear of it: once, since a peer may
// ask again and again. A tick that waits is answered here, since the engine may be inside a long
// step.
bool DispatcherState::Stop(uint64_t seq, CancelReason reason) {
  const Requests::Entry* const request = requests_->Find(seq);
  if (request == nullptr || request->token == nullptr) return false;
  if (!request->token->Cancel(reason, [this] { return compat::NowNs(self_); })) return false;
  compat::SendUrgent(self_, request->details.transcriber, CancelTranscription{reason});
  if (session_.ended()) return true;
  if (request->details.awaits_files) {
    StopOutside(seq, reason);
  } else if (request->kind == RequestKind::kTick && request->token->EndWaiting()) {
    AnswerWaitingTick(seq, request->token->reason());
  }
  return true;
}

// Ends a call that the engine has only reserved a place for: what it waits for may never come.
void DispatcherState::StopOutside(uint64_t seq, CancelReason reason) {
  const absl::Status stopped = StoppedStatus(reason);
  FailReserved(seq, linkw::FromAbsl(stopped), MessageOf(stopped));
}

// It stays open until the engine has let go of it, so that the engine's mailbox is bounded.
void DispatcherState::AnswerWaitingTick(uint64_t seq, CancelReason reason) {
  const absl::Status stopped = StoppedStatus(reason);
  requests_->MarkAnswered(seq);
  Reply(seq, linkw::TickResult{
                 .status = linkw::FromAbsl(stopped), .message = MessageOf(stopped), .events = {}});
}

void DispatcherState::CancelTranscriptions(CancelReason reason) {
  std::vector<uint64_t> transcriptions;
  requests_->ForEach([&](uint64_t seq, const Requests::Entry& request) {
    if (request.kind == RequestKind::kTranscription) transcriptions.push_back(seq);
  });
  CancelMany(transcriptions, reason);
}

void DispatcherState::CancelAllOpen(CancelReason reason) {
  CancelMany(requests_->Numbers(), reason);
}

// Audio for a request that has ended, was never there or takes none is ignored: the peer may not
// know yet.
DispatcherState::Outcome DispatcherState::On(const Current& current, linkw::TranscribeAudio audio) {
  const Requests::Entry* const request = requests_->Find(audio.request_seq);
  if (request != nullptr && request->details.takes_audio) {
    if (const auto* span = std::get_if<linkw::BufferSpan>(&audio.data)) {
      compat::Send(self_, state_ops_,
                   BindBuffer{.id = span->buf_id, .user = request->details.transcriber});
    }
    compat::Send(
        self_, request->details.transcriber,
        LiveAudioReceived{.audio = std::make_shared<const linkw::TranscribeAudio>(std::move(audio)),
                          .credit = current.credit});
  }
  return Outcome::kHandled;
}

}  // namespace superfluid
