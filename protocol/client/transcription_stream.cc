#include "protocol/client/transcription_stream.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "protocol/client/link_connection.h"
#include "protocol/messages/status.h"
#include "protocol/messages/text.h"

namespace superfluid::linkw {
namespace {

// A frame that is on its way cannot be overtaken, so none is long.
constexpr size_t kMaxAudioFrameBytes = size_t{64} << 10;

}  // namespace

TranscriptionStream::TranscriptionStream(std::shared_ptr<LinkConnection> connection,
                                         std::unique_ptr<ReplyStream> replies)
    : connection_(std::move(connection)), replies_(std::move(replies)) {}

// Whoever reads the link is let go first: the cancel must not wait for room that only it can make.
TranscriptionStream::~TranscriptionStream() {
  const uint64_t seq = request_seq();
  replies_.reset();
  if (!finished_) (void)connection_->Send(TranscribeCancel{seq});
}

absl::StatusOr<TranscriptionStream::Event> TranscriptionStream::Next(Deadline deadline) {
  if (finished_) {
    return MakeStatus(Status::kFailedPrecondition, "the transcription is over");
  }
  absl::StatusOr<WorkerMessage> message = replies_->Next(deadline);
  while (message.ok() && std::holds_alternative<TranscribeProgress>(*message)) {
    audio_ms_ = std::get<TranscribeProgress>(*message).audio_ms;
    message = replies_->Next(deadline);
  }
  if (!message.ok()) return message.status();
  if (auto* segment = std::get_if<TranscribeSegment>(&*message)) {
    audio_ms_ = segment->audio_ms;
    return std::move(*segment);
  }
  if (auto* result = std::get_if<StateSyncResult>(&*message)) {
    finished_ = true;
    return std::move(*result);
  }
  if (auto* error = std::get_if<Error>(&*message)) {
    finished_ = true;
    const absl::Status status = ToStatus(*error);
    return StateSyncResult{error->status, std::string(status.message()), {}};
  }
  return MakeStatus(Status::kInternal, absl::StrCat("the worker answered a transcription with ",
                                                    AbslView(MessageTypeName(TypeOf(*message)))));
}

absl::StatusOr<StateSyncResult> TranscriptionStream::Finish(Deadline deadline) {
  while (true) {
    absl::StatusOr<Event> event = Next(deadline);
    if (!event.ok()) return event.status();
    if (auto* result = std::get_if<StateSyncResult>(&*event)) return std::move(*result);
  }
}

absl::Status TranscriptionStream::Cancel() {
  if (finished_) return absl::OkStatus();
  return connection_->Send(TranscribeCancel{request_seq()}).status();
}

absl::Status TranscriptionStream::PushAudio(std::string pcm, bool end_of_stream) {
  size_t at = 0;
  for (; pcm.size() - at > kMaxAudioFrameBytes; at += kMaxAudioFrameBytes) {
    absl::Status status = Push({request_seq(), pcm.substr(at, kMaxAudioFrameBytes), false});
    if (!status.ok()) return status;
  }
  if (at > 0) pcm.erase(0, at);
  return Push({request_seq(), std::move(pcm), end_of_stream});
}

absl::Status TranscriptionStream::PushAudio(BufferSpan span, bool end_of_stream) {
  return Push({request_seq(), span, end_of_stream});
}

absl::Status TranscriptionStream::Push(const TranscribeAudio& audio) {
  return connection_->Send(audio).status();
}

}  // namespace superfluid::linkw
