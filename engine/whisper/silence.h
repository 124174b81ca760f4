#ifndef SUPERFLUID_ENGINE_WHISPER_SILENCE_H_
#define SUPERFLUID_ENGINE_WHISPER_SILENCE_H_

#include <algorithm>
#include <cmath>

#include "absl/types/span.h"

namespace superfluid {

// -70 dBFS: ten steps of 16-bit audio. Nobody speaks so quietly, and a model that hears nothing
// tends to write what it was trained to write at the end of films.
inline constexpr float kSilentBelow = 3.1623e-4F;

// Whether no sample is as loud as that. Audio without a sample is silent.
inline bool IsSilent(absl::Span<const float> samples) {
  return std::none_of(samples.begin(), samples.end(),
                      [](float sample) { return std::fabs(sample) >= kSilentBelow; });
}

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_WHISPER_SILENCE_H_
