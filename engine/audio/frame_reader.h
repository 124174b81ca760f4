#ifndef SUPERFLUID_ENGINE_AUDIO_FRAME_READER_H_
#define SUPERFLUID_ENGINE_AUDIO_FRAME_READER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/audio/audio_limits.h"
#include "engine/audio/audio_source.h"

namespace superfluid {

// What a container or a buffer gives: interleaved float frames at its own rate. The common ground
// of the recorded sources. Threads: one at a time.
class FrameReader {
 public:
  virtual ~FrameReader() = default;

  virtual int rate_hz() const = 0;
  virtual int channels() const = 0;

  // Frames that the container says it holds; nullopt if it does not say.
  virtual std::optional<int64_t> total_frames() const = 0;

  // Reads as many frames as fit into `out`, at most. 0 means that there are no more. REQUIRES: room
  // for a frame of kMaxAudioChannels.
  // Errors: InvalidArgument when the data are damaged or end too early.
  // rate_hz() and channels() are those of the frames read last: a file may be several in a row.
  virtual absl::StatusOr<size_t> ReadFrames(absl::Span<float> out) = 0;

  // As AudioSource::Remark.
  virtual std::string Remark() const { return {}; }
};

// Engine audio made of `reader`'s frames. Errors of opening: InvalidArgument for a rate or channel
// count beyond the limits, no frames at all, or a first block that cannot be decoded. Errors of
// Read: the reader's, and InvalidArgument beyond `limits.max_duration`; whatever was decoded before
// is delivered first.
absl::StatusOr<std::unique_ptr<AudioSource>> MakeRecordedSource(std::unique_ptr<FrameReader> reader,
                                                                const AudioLimits& limits);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_AUDIO_FRAME_READER_H_
