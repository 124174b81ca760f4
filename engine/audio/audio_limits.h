#ifndef SUPERFLUID_ENGINE_AUDIO_AUDIO_LIMITS_H_
#define SUPERFLUID_ENGINE_AUDIO_AUDIO_LIMITS_H_

#include "absl/time/time.h"

namespace superfluid {

inline constexpr int kMinAudioRateHz = 100;
inline constexpr int kMaxAudioRateHz = 768000;
inline constexpr int kMaxAudioChannels = 32;

// What a decoder of recordings accepts. Whatever is beyond is an error, never an allocation.
struct AudioLimits {
  // Audio that decodes to more than this ends with an error there, so that a file of a few bytes
  // cannot keep an engine busy for ever.
  absl::Duration max_duration = absl::Hours(24);
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_AUDIO_AUDIO_LIMITS_H_
