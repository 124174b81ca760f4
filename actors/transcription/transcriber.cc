#include "actors/transcription/transcriber.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "actors/runtime/engine_status.h"
#include "actors/runtime/printable.h"
#include "engine/audio/audio_file.h"
#include "engine/audio/audio_prefetch.h"
#include "engine/audio/media_path.h"
#include "engine/audio/pcm.h"
#include "protocol/messages/status.h"
#include "spdlog/spdlog.h"

namespace superfluid {
namespace {

PcmFormat ToEngineFormat(const linkw::PcmFormat& format) {
  return {.rate_hz = static_cast<int>(std::min<uint32_t>(format.sample_rate_hz, 1u << 30)),
          .channels = static_cast<int>(std::min<uint32_t>(format.channels, 1u << 30)),
          .encoding = format.sample_format == linkw::SampleFormat::kF32 ? PcmEncoding::kF32
                                                                        : PcmEncoding::kS16};
}

absl::StatusOr<std::unique_ptr<AudioSource>> OpenPath(const std::string& root,
                                                      const std::string& path) {
  const absl::StatusOr<int> fd = OpenUnderRoot(root, path);
  if (!fd.ok()) return fd.status();
  return OpenAudioFile(*fd, path);
}

absl::StatusOr<std::unique_ptr<AudioSource>> OpenSegment(
    const std::shared_ptr<const Segment>& segment, const linkw::AudioBuffer& buffer) {
  const absl::StatusOr<absl::Span<std::byte>> bytes = segment->Slice(buffer.offset, buffer.length);
  if (!bytes.ok()) return absl::InvalidArgumentError(bytes.status().message());
  return std::holds_alternative<linkw::EncodedFile>(buffer.format)
             ? OpenAudioMemory(*bytes, segment, "the buffer")
             : OpenPcm(*bytes, segment, ToEngineFormat(std::get<linkw::PcmFormat>(buffer.format)));
}

AudioOpened ToMessage(absl::StatusOr<std::unique_ptr<AudioSource>> source) {
  if (!source.ok()) return {.status = source.status(), .audio = {}};
  return {
      .status = absl::OkStatus(),
      .audio = std::make_shared<JobAudio>(JobAudio{.source = *std::move(source), .live = nullptr})};
}

// Whether the end is one that the daemon asked for or brought about: no fault of the worker, of its
// engine or of its machine.
bool IsOfTheRequest(linkw::Status status) {
  switch (status) {
    case linkw::Status::kOk:
    case linkw::Status::kBusy:
    case linkw::Status::kCancelled:
    case linkw::Status::kDeadlineExceeded:
    case linkw::Status::kUnsupported:
    case linkw::Status::kInvalidArgument:
    case linkw::Status::kNotFound:
    case linkw::Status::kPermissionDenied:
    case linkw::Status::kTooLarge:
      return true;
    default:
      return false;
  }
}

// The audio of a request, for the log.
std::string NameOf(const linkw::AudioSourceSpec& audio) {
  if (const auto* path = std::get_if<linkw::AudioPath>(&audio)) return Printable(path->path);
  return std::holds_alternative<linkw::AudioLive>(audio) ? "(live)" : "(a buffer)";
}

absl::Status TooLong() {
  return linkw::MakeStatus(linkw::Status::kTooLarge,
                           "the transcript grew beyond what one answer can hold");
}

uint64_t Microseconds(int64_t ns) { return static_cast<uint64_t>(std::max<int64_t>(ns, 0) / 1000); }

}  // namespace

void TranscriberState::Start(TranscriberContext context,
                             std::shared_ptr<const linkw::StateSyncRequest> request) {
  context_ = std::move(context);
  transcript_ = Transcript(context_.max_frame);
  request_ = std::move(request);
  transcribe_ = &std::get<linkw::Transcribe>(request_->call);
  compat::Send(self_, Transcriber(self_), OpenAudio{});
  // A file may hang, and its buffer may wait behind others; live audio is queued at once.
  if (transcribe_->control_slot == 0) return;
  if (std::holds_alternative<linkw::AudioLive>(transcribe_->audio)) return;
  compat::Send(self_, context_.engine,
               WatchStopWord{.key = context_.key,
                             .control_slot = transcribe_->control_slot,
                             .token = context_.token,
                             .reply_to = Transcriber(self_)});
}

void TranscriberState::OnOpenAudio() {
  if (finished_) return;
  if (const auto* path = std::get_if<linkw::AudioPath>(&transcribe_->audio)) {
    OpenRecording([root = context_.media_root, path = path->path] { return OpenPath(root, path); });
  } else if (const auto* live = std::get_if<linkw::AudioLive>(&transcribe_->audio)) {
    OpenLive(*live);
  }  // else the buffer is on its way
}

void TranscriberState::OnBufferBound(const BufferBound& bound) {
  if (finished_) return;
  if (const auto* buffer = std::get_if<linkw::AudioBuffer>(&transcribe_->audio)) {
    if (opening_ || queued_) return;
    if (!bound.status.ok()) return FinishUnqueued(bound.status);
    return OpenRecording(
        [segment = bound.segment, buffer = *buffer] { return OpenSegment(segment, buffer); });
  }
  if (!std::holds_alternative<linkw::AudioLive>(transcribe_->audio)) return;
  bound_.push_back(bound);
  PumpLiveAudio();
}

// The events hold no actor: a read that hangs must not keep one alive.
void TranscriberState::OpenRecording(
    std::function<absl::StatusOr<std::unique_ptr<AudioSource>>()> open) {
  opening_ = true;
  const compat::Weak<Transcriber> transcriber{Transcriber(self_)};
  const compat::Weak<EngineActor> engine(context_.engine);
  PrefetchEvents events;
  events.opened = [transcriber](absl::StatusOr<std::unique_ptr<AudioSource>> source) {
    compat::SendFromOutside(transcriber.Lock(), ToMessage(std::move(source)));
  };
  events.more = [engine, key = context_.key] {
    compat::SendFromOutside(engine.Lock(), AudioArrived{key});
  };
  const absl::Status begun = PrefetchAudio(
      context_.readers,
      [open = std::move(open),
       token = context_.token]() -> absl::StatusOr<std::unique_ptr<AudioSource>> {
        if (token->cancelled()) return absl::CancelledError("cancelled");
        return open();
      },
      std::move(events));
  if (!begun.ok())
    FinishUnqueued(linkw::MakeStatus(linkw::Status::kBusy, std::string(begun.message())));
}

void TranscriberState::OnAudioOpened(const AudioOpened& opened) {
  if (finished_) return;
  if (context_.token->cancelled()) return FinishUnqueued(CancelStatus());
  if (!opened.status.ok()) return FinishUnqueued(SystemStatus(opened.status));
  Queue(opened.audio);
}

void TranscriberState::OpenLive(const linkw::AudioLive& live) {
  absl::StatusOr<std::unique_ptr<LiveAudio>> audio = LiveAudio::Create(ToEngineFormat(live.format));
  if (!audio.ok()) return FinishUnqueued(SystemStatus(audio.status()));
  std::unique_ptr<AudioSource> source = (*audio)->TakeSource();
  Queue(
      std::make_shared<JobAudio>(JobAudio{.source = std::move(source), .live = *std::move(audio)}));
}

void TranscriberState::Queue(std::shared_ptr<JobAudio> audio) {
  if (context_.token->cancelled()) return FinishUnqueued(CancelStatus());
  queued_ = true;
  compat::Send(
      self_, context_.engine,
      QueueTranscription{
          .key = context_.key,
          .params = {.language = transcribe_->language,
                     .translate = transcribe_->translate,
                     .timestamps = transcribe_->timestamps,
                     .partial_results = transcribe_->stream && transcribe_->partial_results,
                     .prompt = transcribe_->prompt},
          .audio = std::move(audio),
          .token = context_.token,
          .deadline_ns = context_.deadline_ns,
          .control_slot = transcribe_->control_slot,
          .segment_credit = context_.segment_credit,
          .progress_ms = transcribe_->progress_ms,
          .reply_to = Transcriber(self_),
      });
  PumpLiveAudio();
}

void TranscriberState::OnSegment(const SegmentDecoded& decoded) {
  if (finished_ || full_) return;
  full_ = !transcript_.HasRoomFor(*decoded.segment);
  if (full_) return Cancel(CancelReason::kTooLong);
  SendSegment(*decoded.segment, decoded.progress);
}

void TranscriberState::SendSegment(const TranscribedSegment& segment,
                                   const TranscriptionProgress& progress) {
  linkw::TranscribeSegment sent = transcript_.Add(segment, progress);
  if (!transcribe_->stream) return GrantOne();
  compat::Send(self_, context_.writer,
               SendMessage{.correlation = context_.key.seq,
                           .message = std::make_shared<const linkw::WorkerMessage>(std::move(sent)),
                           .ack_to = FrameWrittenSink(Transcriber(self_))});
}

void TranscriberState::OnAudioConsumed(int64_t audio_ms) {
  if (finished_) return;
  compat::Send(self_, context_.writer,
               SendMessage{.correlation = context_.key.seq,
                           .message = std::make_shared<const linkw::WorkerMessage>(
                               linkw::TranscribeProgress{audio_ms})});
}

void TranscriberState::OnFrameWritten() { GrantOne(); }

void TranscriberState::GrantOne() {
  if (finished_) return;
  compat::Send(self_, context_.engine, GrantSegments{.key = context_.key, .count = 1});
}

void TranscriberState::OnEnded(const TranscriptionEnded& ended) {
  remark_ = ended.remark;
  Finish(EndStatus(ended), ended.progress, ended.cost);
}

// The token may have been set by somebody whose message is still on its way: its reason counts.
absl::Status TranscriberState::EndStatus(const TranscriptionEnded& ended) const {
  if (absl::IsCancelled(ended.status) && context_.token->cancelled()) return CancelStatus();
  if (ended.status.ok() && full_) return TooLong();
  return linkw::MakeStatus(EngineStatus(ended.status), std::string(ended.status.message()));
}

void TranscriberState::OnCancel(CancelReason reason) {
  if (finished_) return;
  context_.token->Cancel(reason, [this] { return compat::NowNs(self_); });
  if (!queued_) return FinishUnqueued(CancelStatus());
  if (context_.token->EndWaiting()) Answer(CancelStatus(), {}, {});
}

void TranscriberState::Cancel(CancelReason reason) {
  context_.token->Cancel(reason, [this] { return compat::NowNs(self_); });
  if (queued_) compat::SendUrgent(self_, context_.engine, CancelJob{context_.key});
  OnCancel(reason);
}

void TranscriberState::OnLiveAudio(const LiveAudioReceived& received) {
  if (finished_ || !std::holds_alternative<linkw::AudioLive>(transcribe_->audio)) return;
  live_audio_.push_back(received);
  PumpLiveAudio();
}

void TranscriberState::PumpLiveAudio() {
  while (queued_ && !finished_ && !live_audio_.empty()) {
    const std::shared_ptr<const linkw::TranscribeAudio> audio = live_audio_.front().audio;
    if (const auto* span = std::get_if<linkw::BufferSpan>(&audio->data)) {
      if (bound_.empty()) return;  // its buffer is on its way
      const BufferBound bound = std::move(bound_.front());
      bound_.pop_front();
      PushFromBuffer(*span, bound);
    } else {
      // The message owns the bytes; no copy is made on the way.
      Push(std::shared_ptr<const std::string>(audio, &std::get<std::string>(audio->data)));
    }
  }
}

// Copies, so that the peer may reuse the buffer for a later chunk. A span costs its peer nothing,
// and the engine may be inside a long step: what is on its way to it is bounded before it is
// copied.
void TranscriberState::PushFromBuffer(const linkw::BufferSpan& span, const BufferBound& bound) {
  struct Copy {
    std::shared_ptr<const void> room;
    std::string pcm;
  };
  const absl::StatusOr<absl::Span<std::byte>> bytes =
      bound.status.ok() ? bound.segment->Slice(span.offset, span.length) : bound.status;
  if (!bytes.ok()) return Abandon(bytes.status());
  std::shared_ptr<const void> room = context_.audio_copies->Take(bytes->size());
  if (room == nullptr) {
    return Abandon(linkw::MakeStatus(linkw::Status::kOutOfMemory,
                                     "more live audio than can wait for the engine"));
  }
  const auto copy = std::make_shared<const Copy>(
      Copy{std::move(room), {reinterpret_cast<const char*>(bytes->data()), bytes->size()}});
  Push(std::shared_ptr<const std::string>(copy, &copy->pcm));
}

void TranscriberState::Push(std::shared_ptr<const std::string> pcm) {
  compat::Send(self_, context_.engine,
               PushAudio{.key = context_.key,
                         .pcm = std::move(pcm),
                         .end_of_stream = live_audio_.front().audio->end_of_stream,
                         .credit = live_audio_.front().credit});
  live_audio_.pop_front();
}

// The audio that the peer announced cannot be had: end the job with `status`.
void TranscriberState::Abandon(const absl::Status& status) {
  abandoned_ = status;
  live_audio_.clear();
  Cancel(CancelReason::kRequested);
}

void TranscriberState::FinishUnqueued(const absl::Status& status) { Finish(status, {}, {}); }

void TranscriberState::Finish(const absl::Status& status, const TranscriptionProgress& progress,
                              const TranscriptionCost& cost) {
  Answer(status, progress, cost);
  compat::Send(self_, context_.dispatcher, RequestFinished{.seq = context_.key.seq});
  self_->quit();
}

void TranscriberState::Answer(const absl::Status& status, const TranscriptionProgress& progress,
                              const TranscriptionCost& cost) {
  if (std::exchange(finished_, true)) return;
  // Before the answer: whoever asks after it sees that the request is gone.
  context_.token->EndWaiting();
  context_.open.reset();
  linkw::TranscribeResult result = transcript_.TakeResult(progress);
  result.stats.engine_steps = cost.steps;
  result.stats.engine_us = Microseconds(cost.engine_ns);
  result.stats.queue_us = Microseconds(cost.queue_ns);
  result.stats.cancel_to_stop_us = Microseconds(cost.cancel_to_stop_ns);
  result.stats.steps_after_cancel = cost.steps_after_cancel;
  linkw::StateSyncResult answer{.status = linkw::FromAbsl(status),
                                .message = status.ok() ? remark_ : std::string(status.message()),
                                .reply = std::move(result)};
  context_.replies->NoteHandedOver();
  context_.token->MarkAnswered();
  compat::Send(
      self_, context_.writer,
      SendMessage{.correlation = context_.key.seq,
                  .message = std::make_shared<const linkw::WorkerMessage>(std::move(answer)),
                  .counted_by = context_.replies});
  LogDone(status, progress, cost);
}

void TranscriberState::LogDone(const absl::Status& status, const TranscriptionProgress& progress,
                               const TranscriptionCost& cost) const {
  const linkw::Status wire = linkw::FromAbsl(status);
  const std::string why = status.ok() || absl::IsCancelled(status)
                              ? std::string()
                              : absl::StrCat(" audio=\"", NameOf(transcribe_->audio),
                                             "\" reason=\"", Printable(status.message()), "\"");
  const std::string label = transcribe_->label.empty()
                                ? ""
                                : absl::StrCat(" label=\"", Printable(transcribe_->label), "\"");
  spdlog::log(
      IsOfTheRequest(wire) ? spdlog::level::info : spdlog::level::warn,
      "transcription.done link={} seq={} status={} audio_ms={} steps={} engine_ms={} queue_ms={} "
      "cancel_to_stop_us={}{}{}",
      static_cast<uint64_t>(context_.key.link), context_.key.seq, linkw::StatusName(wire),
      progress.audio_ms, cost.steps, cost.engine_ns / 1'000'000, cost.queue_ns / 1'000'000,
      cost.cancel_to_stop_ns / 1000, label, why);
}

absl::Status TranscriberState::CancelStatus() const {
  if (!abandoned_.ok()) return abandoned_;
  switch (context_.token->reason()) {
    case CancelReason::kDeadline:
      return linkw::MakeStatus(linkw::Status::kDeadlineExceeded,
                               "the deadline of the request has passed");
    case CancelReason::kDraining:
      return linkw::MakeStatus(linkw::Status::kCancelled, "cancelled: the worker is draining");
    case CancelReason::kTooLong:
      return TooLong();
    default:
      return linkw::MakeStatus(linkw::Status::kCancelled, "cancelled");
  }
}

Transcriber::behavior_type TranscriberBehavior(
    Transcriber::stateful_pointer<TranscriberState> self, TranscriberContext context,
    std::shared_ptr<const linkw::StateSyncRequest> request) {
  // Without its link nobody would end it; the engine drops the job of one that is gone.
  self->set_down_handler([self](const caf::down_msg&) { self->quit(); });
  self->monitor(context.dispatcher);
  self->state.Start(std::move(context), std::move(request));
  return {
      [self](const OpenAudio&) { self->state.OnOpenAudio(); },
      [self](const AudioOpened& opened) { self->state.OnAudioOpened(opened); },
      [self](const SegmentDecoded& decoded) { self->state.OnSegment(decoded); },
      [self](const AudioConsumed& consumed) { self->state.OnAudioConsumed(consumed.audio_ms); },
      [self](const TranscriptionEnded& ended) { self->state.OnEnded(ended); },
      [self](const CancelTranscription& cancel) { self->state.OnCancel(cancel.reason); },
      [self](const LiveAudioReceived& received) { self->state.OnLiveAudio(received); },
      [self](const BufferBound& bound) { self->state.OnBufferBound(bound); },
      [self](const FrameWritten&) { self->state.OnFrameWritten(); },
  };
}

}  // namespace superfluid
