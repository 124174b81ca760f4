#ifndef SUPERFLUID_ENGINE_AUDIO_DOWNMIX_H_
#define SUPERFLUID_ENGINE_AUDIO_DOWNMIX_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace superfluid {

// Makes one channel of several: their mean, or, where channels cancel each other (one side of a
// recording is inverted), the loudest of them alone. It changes over in 10 ms.
//
// Deterministic: the result depends on the samples only, not on how they are cut into blocks.
// Threads: one at a time.
class Downmix {
 public:
  Downmix(int rate_hz, int channels);

  // Appends a sample for each frame of `interleaved` to `mono`. Samples that are not finite count
  // as 0; the result is clamped to +-1e6, which is beyond any sane recording.
  void Mix(absl::Span<const float> interleaved, std::vector<float>& mono);

  // Frames for which one channel stood for all.
  int64_t frames_of_one_channel() const { return frames_of_one_channel_; }

 private:
  void Follow(const float* frame, double mean);

  size_t channels_;
  double decay_;  // of the powers, a frame
  double fade_;   // of share_, a frame
  double power_of_mean_ = 0;
  std::vector<double> powers_;  // of each channel
  bool cancels_ = false;
  size_t chosen_ = 0;  // channel
  double share_ = 0;   // of the chosen channel in the result
  int64_t frames_of_one_channel_ = 0;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_AUDIO_DOWNMIX_H_
