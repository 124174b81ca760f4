#ifndef SUPERFLUID_PROTOCOL_CLIENT_TRANSCRIPTION_STREAM_H_
#define SUPERFLUID_PROTOCOL_CLIENT_TRANSCRIPTION_STREAM_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "protocol/client/reply_stream.h"
#include "protocol/messages/deadline.h"
#include "protocol/messages/messages.h"

namespace superfluid::linkw {

class LinkConnection;

// One transcription in progress, made by LinkClient::Transcribe. Thread-safe: Cancel and PushAudio
// may be called while another thread waits in Next.
//
// Destroying it before its final answer cancels the transcription and drops what still comes.
class TranscriptionStream {
 public:
  // A segment, or the final answer. A request that was refused with an ERROR frame gives the final
  // answer too: with that status and no reply.
  using Event = std::variant<TranscribeSegment, StateSyncResult>;

  TranscriptionStream(std::shared_ptr<LinkConnection> connection,
                      std::unique_ptr<ReplyStream> replies);
  TranscriptionStream(const TranscriptionStream&) = delete;
  TranscriptionStream& operator=(const TranscriptionStream&) = delete;
  ~TranscriptionStream();

  // Waits for the next event. Errors: DeadlineExceeded (call again to go on waiting), kLinkClosed,
  // FailedPrecondition after the final answer.
  absl::StatusOr<Event> Next(Deadline deadline = Deadline::Never());

  // Drops segments until the final answer, and returns it. Errors: as Next.
  absl::StatusOr<StateSyncResult> Finish(Deadline deadline = Deadline::Never());

  // Asks the worker to stop; the final answer still comes (kCancelled with the segments so far, or
  // kOk if it was done). Does not wait for it. Idempotent; after the final answer it does nothing.
  // Takes a lock and writes to a socket: from a signal handler, wake a thread that calls it.
  absl::Status Cancel();

  // Audio for a request with AudioLive, in order; from one thread at a time. Waits while the worker
  // takes no more, as long as any write may (then the link ends); a Cancel does not wait with it.
  // Long PCM goes out in several frames, so that a cancel can come between.
  absl::Status PushAudio(std::string pcm, bool end_of_stream = false);
  absl::Status PushAudio(BufferSpan span, bool end_of_stream = false);

  // How much audio the worker has consumed, as far as Next has heard: segments say so, and, if the
  // request has progress_ms, messages of their own, which Next keeps to itself.
  int64_t audio_ms() const { return audio_ms_; }

  uint64_t request_seq() const { return replies_->request_seq(); }

 private:
  absl::Status Push(const TranscribeAudio& audio);

  std::shared_ptr<LinkConnection> connection_;
  std::unique_ptr<ReplyStream> replies_;
  std::atomic<bool> finished_{false};
  std::atomic<int64_t> audio_ms_{0};
};

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_PROTOCOL_CLIENT_TRANSCRIPTION_STREAM_H_
