#ifndef SUPERFLUID_ENGINE_AUDIO_LIVE_AUDIO_H_
#define SUPERFLUID_ENGINE_AUDIO_LIVE_AUDIO_H_

#include <cstddef>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "engine/audio/audio_source.h"
#include "engine/audio/pcm_format.h"

namespace superfluid {

// PCM that is still being made: one side pushes, a job reads, and is told kStarved when nothing is
// left for now.
//
// Threads: no locks; Push, End and Read must be called by the same thread (the engine's).
// Lifetime: the two halves share what is queued; either may go first. Pushing after the reader is
// gone is Cancelled.
class LiveAudio {
 public:
  static constexpr absl::Duration kDefaultMaxUnread = absl::Seconds(30);

  // Errors: InvalidArgument for a format out of range.
  static absl::StatusOr<std::unique_ptr<LiveAudio>> Create(
      const PcmFormat& format, absl::Duration max_unread = kDefaultMaxUnread);

  ~LiveAudio();
  LiveAudio(const LiveAudio&) = delete;
  LiveAudio& operator=(const LiveAudio&) = delete;

  // The reading half; to be taken once (null afterwards).
  std::unique_ptr<AudioSource> TakeSource();

  // Copies `bytes` into the queue; an incomplete frame waits for its rest. Errors:
  // ResourceExhausted, and nothing was taken, when more than `max_unread` would be waiting;
  // FailedPrecondition after End; Cancelled after the source was destroyed.
  absl::Status Push(absl::Span<const std::byte> bytes);

  // No more audio will come. Idempotent.
  void End();

  // Audio that was pushed and not read yet.
  absl::Duration unread() const;
  size_t unread_bytes() const;

 private:
  struct Queue;
  class Source;
  explicit LiveAudio(std::shared_ptr<Queue> queue);

  std::shared_ptr<Queue> queue_;
  std::unique_ptr<AudioSource> source_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_AUDIO_LIVE_AUDIO_H_
