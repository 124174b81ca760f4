#include "engine/whisper/speech_finder.h"

#include <algorithm>
#include <cstddef>

namespace superfluid {
namespace {

constexpr int64_t kMsSamples = 16;
constexpr int64_t kLeastSpeech = 250 * kMsSamples;   // shorter is a noise
constexpr int64_t kLeastSilence = 100 * kMsSamples;  // shorter is part of the speech
constexpr int64_t kMergedGap = 200 * kMsSamples;
constexpr int64_t kPadding = 30 * kMsSamples;
constexpr float kHysteresis = 0.15F;
constexpr float kLeastThreshold = 0.01F;

// Speech ends at `end`, if it was long enough to be some.
void EndSpeech(FoundSpeech& found, int64_t end) {
  if (end - found.unfinished > kLeastSpeech) found.regions.push_back({found.unfinished, end});
  found.unfinished = -1;
}

// Speech begins at the threshold, and ends when the probability stays well below it.
FoundSpeech FindRaw(absl::Span<const float> probabilities, float threshold) {
  const float below = std::max(threshold - kHysteresis, kLeastThreshold);
  FoundSpeech found;
  int64_t quiet_since = -1;
  int64_t sample = 0;
  for (const float probability : probabilities) {
    if (probability >= threshold) {
      quiet_since = -1;
      if (found.unfinished < 0) found.unfinished = sample;
    } else if (probability < below && found.unfinished >= 0) {
      // The library takes a position of 0 for "nowhere", but speech cannot end there.
      if (quiet_since < 0) quiet_since = sample;
      if (sample - quiet_since >= kLeastSilence) {
        EndSpeech(found, quiet_since);
        quiet_since = -1;
      }
    }
    sample += kSpeechBlockSamples;
  }
  if (found.unfinished >= 0 && sample - found.unfinished > kLeastSpeech) {
    found.regions.push_back({found.unfinished, sample});
  }
  return found;
}

std::vector<SpeechRegion> Merged(const std::vector<SpeechRegion>& regions) {
  std::vector<SpeechRegion> merged;
  merged.reserve(regions.size());
  for (const SpeechRegion& region : regions) {
    if (!merged.empty() && region.begin - merged.back().end < kMergedGap) {
      merged.back().end = region.end;
    } else {
      merged.push_back(region);
    }
  }
  return merged;
}

}  // namespace

FoundSpeech FindSpeech(absl::Span<const float> probabilities, float threshold) {
  FoundSpeech found = FindRaw(probabilities, threshold);
  found.regions = Merged(found.regions);
  const auto end = static_cast<int64_t>(probabilities.size()) * kSpeechBlockSamples;
  for (SpeechRegion& region : found.regions) {
    region.begin = std::max<int64_t>(region.begin - kPadding, 0);
    region.end = std::min(region.end + kPadding, end);
  }
  return found;
}

}  // namespace superfluid
