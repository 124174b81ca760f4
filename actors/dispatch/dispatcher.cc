#include "actors/dispatch/dispatcher.h"

#include <limits>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "actors/link/fd_receiver.h"
#include "actors/link/frame_credit.h"
#include "actors/link/link_reader.h"
#include "actors/link/link_writer.h"
#include "actors/runtime/printable.h"
#include "actors/runtime/refusal.h"
#include "actors/runtime/status_error.h"
#include "actors/state_ops/state_ops.h"
#include "protocol/codec/codec.h"
#include "protocol/messages/status.h"
#include "spdlog/spdlog.h"

namespace superfluid {
namespace {

// For an actor to say that it is done, which it is once its mailbox was handled.
constexpr absl::Duration kTranscriberPatience = absl::Seconds(5);

uint64_t Number(LinkId id) { return static_cast<uint64_t>(id); }

// Where a frame was, for the detail of an ERROR.
std::string Whereabouts(const linkw::Frame& frame) {
  return absl::StrCat("offset ", frame.offset, ", type 0x", absl::Hex(frame.header.type), ", seq ",
                      frame.header.seq);
}

}  // namespace

void DispatcherState::Start(DispatcherContext context) {
  context_ = std::move(context);
  descriptors_.emplace(context_.limits.descriptor_patience);
  requests_.emplace(context_.limits, context_.progress);
  replies_ = std::make_shared<UnsentReplies>(context_.limits.unsent_replies);
  reply_credit_.emplace(replies_);
  const Dispatcher me(self_);
  LinkWriterOptions writer_options;
  writer_options.max_frame = context_.limits.max_frame;
  writer_options.alarms = context_.alarms;
  writer_options.unsent_bytes = context_.limits.unsent_bytes;
  writer_ = compat::Spawn(*self_, context_.placement, LinkWriterBehavior, context_.stream, me,
                          writer_options);
  LinkReaderOptions reader_options;
  reader_options.max_frame = context_.limits.max_frame;
  read_credit_ = reader_options.credit;
  reader_ = compat::Spawn(*self_, context_.placement, LinkReaderBehavior, context_.stream, me,
                          reader_options);
  if (context_.descriptors != nullptr) StartFdReceiver(std::move(context_.descriptors));
  self_->monitor(reader_);
  self_->monitor(writer_);
  if (context_.loaded != nullptr) StartStateOps();
  if (!context_.inherited) {
    SetAlarm(Alarm::kHello, context_.limits.hello_patience, HelloOverdue{});
  }
  spdlog::debug("link.opened link={}", Number(context_.id));
}

void DispatcherState::StartStateOps() {
  state_ops_ = compat::Spawn(*self_, compat::Placement::kPooled, StateOpsBehavior,
                             StateOpsContext{.link = context_.id,
                                             .writer = writer_,
                                             .dispatcher = Dispatcher(self_),
                                             .engine = context_.engine,
                                             .progress = context_.progress,
                                             .replies = replies_,
                                             .spaces = context_.loaded->spaces,
                                             .context_tokens = context_.loaded->context_tokens,
                                             .buffers = {},
                                             .readers = context_.readers,
                                             .op_window = context_.limits.op_window});
  self_->monitor(state_ops_);
}

DispatcherState::Credit DispatcherState::MakeCredit(const ReadCredit::Amount& amount) {
  return std::make_shared<FrameCredit>(read_credit_, reader_, amount);
}

HeldFrame DispatcherState::Hold(const std::shared_ptr<const linkw::Frame>& frame) {
  const linkw::MessageType type = frame->type();
  const auto bytes = static_cast<int64_t>(BytesOfCredit(type, frame->payload.size()));
  HeldFrame held{
      .frame = frame, .payload_bytes = frame->payload.size(), .since_ns = compat::NowNs(self_)};
  if (type == linkw::MessageType::kTranscribeAudio) {
    held.turn = MakeCredit({.frames = 1});
    held.credit = MakeCredit({.payload_bytes = bytes});
  } else if (Overtakes(type)) {
    held.credit = MakeCredit({.urgent_frames = 1, .payload_bytes = bytes});
  } else {
    held.credit = MakeCredit({.frames = 1, .payload_bytes = bytes});
  }
  return held;
}

void DispatcherState::OnFrame(const FrameReceived& received) {
  if (session_.ended()) return;
  context_.last_heard_ns->store(compat::NowNs(self_), std::memory_order_relaxed);
  HeldFrame held = Hold(received.frame);
  // A peer that does not read its answers is not read either, until it does.
  reply_credit_->OnFrame(held.turn != nullptr ? held.turn : held.credit);
  if (IsHandledAtOnce(held.frame->type())) {
    Handle(held);
    return;
  }
  held_.Push(std::move(held));
  HandleHeld();
}

// A HELLO that waits for the engine holds back no PING: it asks how far the engine is.
bool DispatcherState::IsHandledAtOnce(linkw::MessageType type) const {
  if (!Overtakes(type)) return false;
  return session_.handles_frames() ||
         (type == linkw::MessageType::kPing && context_.loaded == nullptr);
}

// Handles what waits, in order, as far as nothing stands in the way. Handlers may call back here.
void DispatcherState::HandleHeld() {
  if (std::exchange(handling_held_, true)) return;
  while (session_.handles_frames() && !held_.empty()) {
    if (AwaitsDecoding(held_.front()) || Handle(held_.front()) == Outcome::kHold) break;
    held_.Pop();
  }
  handling_held_ = false;
  MakeRoomForAwaited();
}

// Handles what overtakes and came while the link's role was being decided.
void DispatcherState::HandleOvertaking() {
  for (const HeldFrame& frame : held_.TakeOvertaking()) {
    if (!session_.ended()) Handle(frame);
  }
}

DispatcherState::Outcome DispatcherState::Handle(const HeldFrame& held) {
  const linkw::Frame& frame = *held.frame;
  const Current current{.seq = frame.header.seq,
                        .type = frame.type(),
                        .credit = held.credit,
                        .payload_bytes = held.payload_bytes,
                        .since_ns = held.since_ns,
                        .cancel = held.cancel};
  if (!linkw::IsKnown(frame.header.type)) {
    if (session_.phase() == LinkPhase::kAwaitingHello) {
      LinkError(
          linkw::MakeStatus(linkw::Status::kProtocolError,
                            absl::StrCat("a message before HELLO (", Whereabouts(frame), ")")),
          current.seq);
    } else {
      RefuseRequest(current, linkw::Status::kUnimplemented,
                    absl::StrCat("unknown required message (", Whereabouts(frame), ")"));
    }
    return Outcome::kHandled;
  }
  if (linkw::IsDroppable(current.type) &&
      linkw::DirectionOf(current.type) == linkw::Direction::kToDaemon) {
    return Outcome::kHandled;  // as a droppable type that is not known
  }
  absl::Status admitted = Admit(session_.phase(), session_.role(), current.type);
  if (admitted.ok()) {
    absl::StatusOr<linkw::DriverMessage> message =
        held.decoded != nullptr ? std::move(*held.decoded)
                                : linkw::ParseDriverMessage(current.type, frame.payload);
    if (message.ok()) return Route(current, *std::move(message));
    admitted = message.status();
  }
  if (linkw::IsLinkError(admitted)) {
    LinkError(linkw::MakeStatus(linkw::FromAbsl(admitted),
                                absl::StrCat(admitted.message(), " (", Whereabouts(frame), ")")),
              current.seq);
  } else {
    RefuseRequest(current, linkw::FromAbsl(admitted), std::string(admitted.message()));
  }
  return Outcome::kHandled;
}

DispatcherState::Outcome DispatcherState::Route(const Current& current,
                                                linkw::DriverMessage message) {
  return std::visit(
      [&](auto&& content) { return On(current, std::forward<decltype(content)>(content)); },
      std::move(message));
}

void DispatcherState::Reply(uint64_t correlation, linkw::WorkerMessage message) {
  replies_->NoteHandedOver();
  compat::Send(
      self_, writer_,
      SendMessage{.correlation = correlation,
                  .message = std::make_shared<const linkw::WorkerMessage>(std::move(message)),
                  .counted_by = replies_});
}

bool DispatcherState::RefuseIfCancelled(const Current& current, RequestKind kind) {
  const bool transcription = kind == RequestKind::kTranscription;
  const bool reached = current.cancel == HeldCancel::kAny ||
                       (current.cancel == HeldCancel::kTranscription && transcription);
  if (!reached) return false;
  if (transcription) {
    RefuseTranscription(current.seq, linkw::Status::kCancelled, "cancelled");
  } else {
    RefuseRequest(current, linkw::Status::kCancelled, "cancelled");
  }
  return true;
}

void DispatcherState::RefuseRequest(const Current& current, linkw::Status status,
                                    std::string text) {
  spdlog::debug("request.refused link={} seq={} type={} status={} reason=\"{}\"",
                Number(context_.id), current.seq, linkw::MessageTypeName(current.type),
                linkw::StatusName(status), Printable(text));
  Reply(current.seq, Refuse(current.type, status, std::move(text)));
}

void DispatcherState::LinkError(const absl::Status& status, uint64_t request_seq) {
  const linkw::Error error{.status = linkw::FromAbsl(status),
                           .message = std::string(status.message()),
                           .detail = {},
                           .fatal = true};
  End(error, absl::StrCat("link error: ", status.message()), request_seq);
}

void DispatcherState::OnReadingEnded(const absl::Status& status) {
  if (!status.ok()) return LinkError(status, 0);
  End(std::nullopt, "the peer closed the link");
}

void DispatcherState::OnWritingFailed(const absl::Status& status) {
  End(std::nullopt, absl::StrCat("writing failed: ", status.message()));
}

void DispatcherState::OnEndLink(const EndLink& end) {
  std::optional<linkw::Error> last_word;
  if (end.status != linkw::Status::kOk) {
    last_word =
        linkw::Error{.status = end.status, .message = end.reason, .detail = {}, .fatal = true};
  }
  // A HELLO that waits for the engine is what the worker answers so.
  const bool waits = context_.loaded == nullptr && session_.phase() == LinkPhase::kClaimingRole;
  End(std::move(last_word), end.reason, waits ? hello_seq_ : 0);
}

// One of the link's own actors, or a transcriber, is gone. Those that end in the normal course of
// things have said so before; any other end is a fault, and its request or the link ends with it.
void DispatcherState::OnDown(const caf::down_msg& down) {
  if (session_.ended()) return;
  if (const std::optional<uint64_t> seq = RequestOf(down.source)) {
    return OnTranscriberDied(*seq, down.reason);
  }
  if (!down.reason || down.reason == caf::exit_reason::normal) return;
  if (!IsPart(down.source)) return;
  spdlog::error("link.part_died link={} reason=\"{}\"", Number(context_.id),
                Printable(ToStatus(down.reason).message()));
  // Nobody is left who would shut it once the last word is written.
  if (down.source == writer_.address()) context_.stream->Shutdown();
  End(linkw::Error{.status = linkw::Status::kInternal,
                   .message = "a part of the link failed inside the worker",
                   .detail = {},
                   .fatal = true},
      "an actor of the link died");
}

// Returns the transcription that this actor serves.
std::optional<uint64_t> DispatcherState::RequestOf(const compat::Address& transcriber) {
  const auto found = transcribers_.find(transcriber);
  return found == transcribers_.end() ? std::nullopt : std::optional(found->second);
}

void DispatcherState::OnTranscriberDied(uint64_t seq, const caf::error& reason) {
  spdlog::error("transcriber.died link={} seq={} reason=\"{}\"", Number(context_.id), seq,
                Printable(ToStatus(reason).message()));
  const Requests::Entry& request = *requests_->Find(seq);
  request.token->Cancel(CancelReason::kRequested, [this] { return compat::NowNs(self_); });
  compat::SendUrgent(self_, context_.engine, CancelJob{{context_.id, seq}});
  if (!request.IsAnswered()) {
    // No TranscribeResult: what it had, segments that were sent among it, is lost.
    Reply(seq, Refuse(linkw::MessageType::kStateSyncRequest, linkw::Status::kInternal,
                      "the transcription failed inside the worker"));
  }
  OnRequestFinished({.seq = seq});
}

// Whether the link cannot go on without this actor.
bool DispatcherState::IsPart(const compat::Address& actor) const {
  return actor == reader_.address() || actor == writer_.address() ||
         (state_ops_ != nullptr && actor == state_ops_.address()) ||
         (fd_receiver_ != nullptr && actor == fd_receiver_.address());
}

void DispatcherState::End(std::optional<linkw::Error> last_word, std::string reason,
                          uint64_t request_seq) {
  if (!session_.End()) return;
  // A driver that is told to try again later does, again and again.
  const bool refused = last_word && last_word->status != linkw::Status::kBusy;
  spdlog::log(session_.drove() || refused ? spdlog::level::info : spdlog::level::debug,
              "link.closed link={} client=\"{}\" open_requests={} reason=\"{}\"",
              Number(context_.id), Printable(client_name_), requests_->size(), Printable(reason));
  compat::Send(self_, context_.supervisor, LinkEnding{context_.id});
  CancelAllOpen(CancelReason::kLinkClosed);
  // held_ may be in use further up the stack: HandleHeld stops at the phase.
  reply_credit_->Release();
  rings_.clear();
  descriptors_->DropOverdue(std::numeric_limits<int64_t>::max());
  compat::Send(self_, writer_,
               CloseLink{.last_word = std::move(last_word), .correlation = request_seq});
  if (channel_ != nullptr) channel_->Shutdown();
  self_->send_exit(reader_, caf::exit_reason::user_shutdown);
  if (state_ops_ != nullptr) self_->send_exit(state_ops_, caf::exit_reason::user_shutdown);
  if (fd_receiver_ != nullptr) self_->send_exit(fd_receiver_, caf::exit_reason::user_shutdown);
  end_reason_ = std::move(reason);
  ReportEnd();
}

// The link counts as ended when the engine holds nothing of it any more, and no transcription of it
// is counted as open: the next driver's PONG must not show them (END-1).
void DispatcherState::ReportEnd() {
  const auto report = [this] {
    compat::Send(self_, context_.supervisor,
                 LinkEnded{.link = context_.id,
                           .reason = end_reason_,
                           .finished = drained_.finished,
                           .cancelled = drained_.cancelled,
                           .cut = drained_.cut});
    self_->quit();
  };
  // An observer's end must not wait for a busy engine: health checks come and go.
  if (!session_.drove()) return report();
  // Each has heard of its cancel and of its job's end before; one that is gone answers with an
  // error.
  const auto await_transcribers = [this, report] {
    std::vector<Transcriber> left;
    requests_->ForEach([&left](uint64_t, const Requests::Entry& request) {
      if (request.details.transcriber != nullptr) left.push_back(request.details.transcriber);
    });
    if (left.empty()) return report();
    const auto waiting = std::make_shared<size_t>(left.size());
    const auto one_less = [waiting, report] {
      if (--*waiting == 0) report();
    };
    for (const Transcriber& transcriber : left) {
      compat::Request(self_, transcriber, kTranscriberPatience,
                      CancelTranscription{CancelReason::kLinkClosed})
          .then(one_less, [one_less](const caf::error&) { one_less(); });
    }
  };
  compat::Request(self_, context_.engine, context_.limits.engine_patience,
                  ReleaseLink{.link = context_.id, .reset_engine = context_.reset_engine_at_end})
      .then([await_transcribers](const LinkReleased&) { await_transcribers(); },
            [await_transcribers](const caf::error&) { await_transcribers(); });
}

Dispatcher::behavior_type DispatcherBehavior(Dispatcher::stateful_pointer<DispatcherState> self,
                                             DispatcherContext context) {
  self->set_down_handler([self](const caf::down_msg& down) { self->state.OnDown(down); });
  self->state.Start(std::move(context));
  return {
      [self](const FrameReceived& received) { self->state.OnFrame(received); },
      [self](const FrameDecoded& decoded) { self->state.OnFrameDecoded(decoded); },
      [self](const ReadingEnded& ended) { self->state.OnReadingEnded(ended.status); },
      [self](const WritingFailed& failed) { self->state.OnWritingFailed(failed.status); },
      [self](const DescriptorReceived& received) { self->state.OnDescriptor(received); },
      [self](const DescriptorsEnded&) { self->state.OnDescriptorsEnded(); },
      [self](const DescriptorChannelOpened& opened) { self->state.OnChannel(opened); },
      [self](const DescriptorOverdue&) { self->state.OnDescriptorOverdue(); },
      [self](const DeadlineReached&) { self->state.OnDeadline(); },
      [self](const RequestFinished& finished) { self->state.OnRequestFinished(finished); },
      [self](const CallDone& done) { self->state.OnCallDone(done); },
      [self](const BufferAllocated& allocated) { self->state.OnBufferAllocated(allocated); },
      [self](const BufferAttached& attached) { self->state.OnBufferAttached(attached); },
      [self](const BufferLent& lent) { self->state.OnBufferLent(lent); },
      [self](const ArtifactsChecked& checked) { self->state.OnArtifactsChecked(checked); },
      [self](const FileCopied& copied) { self->state.OnFileCopied(copied); },
      [self](const RepliesWritten&) { self->state.OnRepliesWritten(); },
      [self](const DrainLink& drain) { self->state.OnDrainLink(drain); },
      [self](const DrainOverdue& overdue) { self->state.OnDrainOverdue(overdue.drain); },
      [self](const HelloOverdue&) { self->state.OnHelloOverdue(); },
      [self](const SendTelemetry&) { self->state.OnTelemetry(); },
      [self](const EndLink& end) { self->state.OnEndLink(end); },
      [self](const EngineReady& ready) { self->state.OnEngineReady(ready); },
  };
}

}  // namespace superfluid
