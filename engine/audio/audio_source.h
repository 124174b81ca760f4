#ifndef SUPERFLUID_ENGINE_AUDIO_AUDIO_SOURCE_H_
#define SUPERFLUID_ENGINE_AUDIO_AUDIO_SOURCE_H_

#include <cstddef>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"

namespace superfluid {

// What every speech engine is fed with: mono float samples in [-1, 1] at this rate. Decoding,
// mixing down and resampling happen before the engine sees a sample.
inline constexpr int kEngineSampleRateHz = 16000;

// A stream of audio that an engine pulls, a block at a time.
//
// Errors: Read returns InvalidArgument for audio that cannot be decoded any further (after an error
// every later Read returns it again).
// Threads: one thread at a time. Lifetime: owned by the job that reads it.
class AudioSource {
 public:
  enum class State {
    kMore,     // more may follow at once
    kStarved,  // no more for now, more may come: live audio, or a file that is slow to read
    kEnd,      // these were the last frames
  };
  struct Block {
    size_t frames = 0;  // samples written to the front of the caller's span; may be 0
    State state = State::kMore;
  };

  virtual ~AudioSource() = default;

  // Gives up to out.size() samples. What an engine reads never blocks; the sources that decode may
  // block on the disk, and are read ahead (audio_prefetch.h).
  virtual absl::StatusOr<Block> Read(absl::Span<float> out) = 0;

  // The length of the whole stream where the container tells it (a claim, not a promise: a
  // truncated file ends earlier); nullopt for live audio, and for recordings that do not say.
  virtual std::optional<absl::Duration> TotalDuration() const = 0;

  // Whether the audio is still being made, so that text is wanted before its end. A recording is
  // not live, whether its length is known or not.
  virtual bool IsLive() const = 0;

  // What a listener should know about audio that ended well: "it is damaged in 2 places: ...".
  // Empty: nothing. Complete after kEnd.
  virtual std::string Remark() const { return {}; }
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_AUDIO_AUDIO_SOURCE_H_
