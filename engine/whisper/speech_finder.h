#ifndef SUPERFLUID_ENGINE_WHISPER_SPEECH_FINDER_H_
#define SUPERFLUID_ENGINE_WHISPER_SPEECH_FINDER_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace superfluid {

// Samples of audio that the voice activity model looks at at once: 32 ms.
inline constexpr int64_t kSpeechBlockSamples = 512;

// Samples [begin, end).
struct SpeechRegion {
  int64_t begin = 0;
  int64_t end = 0;
  friend bool operator==(const SpeechRegion&, const SpeechRegion&) = default;
};

struct FoundSpeech {
  std::vector<SpeechRegion> regions;
  // Where the speech began that was not over at the end; -1 if there was none. It is the last
  // region if it is long enough already.
  int64_t unfinished = -1;
};

// Finds the regions of speech in the probabilities that a voice activity model gave to consecutive
// blocks: the library's own rules (whisper_vad_segments_from_probs with its default parameters,
// without a limit for a region's length), which the library applies only to a whole recording.
FoundSpeech FindSpeech(absl::Span<const float> probabilities, float threshold);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_WHISPER_SPEECH_FINDER_H_
