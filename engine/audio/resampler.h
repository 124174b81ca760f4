#ifndef SUPERFLUID_ENGINE_AUDIO_RESAMPLER_H_
#define SUPERFLUID_ENGINE_AUDIO_RESAMPLER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/audio/downmix.h"

namespace superfluid {

// Turns interleaved float frames of any rate and channel count into engine audio: channels mixed
// (see Downmix), rate converted to kEngineSampleRateHz, not finite -> 0, clipped to [-1, 1].
//
// The output is aligned with the input and, after Finish, exactly
// round(frames * kEngineSampleRateHz / rate) samples long, however the input was cut into blocks.
//
// Threads: one at a time.
class Resampler {
 public:
  // InvalidArgument for a rate or channel count beyond audio_limits.h.
  static absl::Status Validate(int rate_hz, int channels);

  // Errors: as Validate.
  static absl::StatusOr<Resampler> Create(int rate_hz, int channels);

  ~Resampler() = default;
  Resampler(Resampler&&) = default;
  Resampler& operator=(Resampler&&) = default;
  Resampler(const Resampler&) = delete;
  Resampler& operator=(const Resampler&) = delete;

  // Takes whole frames: `interleaved.size()` is a multiple of the channel count.
  // Must not be called after Finish.
  void Push(absl::Span<const float> interleaved);

  // Says that no more input comes, which makes the tail available. Idempotent.
  void Finish();

  size_t available() const { return output_.size() - read_; }

  // Moves up to out.size() finished samples to the front of `out`; returns how many.
  size_t Pop(absl::Span<float> out);

  // How long one channel stood for all, since they cancelled each other.
  double seconds_of_one_channel() const {
    return static_cast<double>(downmix_.frames_of_one_channel()) / rate_hz_;
  }

  // Frames pushed so far.
  int64_t frames_in() const { return frames_in_; }

 private:
  struct SoxrDelete {
    void operator()(void* soxr) const;
  };
  using Soxr = std::unique_ptr<void, SoxrDelete>;

  Resampler(int rate_hz, int channels, Soxr soxr);
  void Convert(const float* mono, size_t frames);
  void Append(const float* samples, size_t count);

  int rate_hz_;
  Soxr soxr_;  // null when the rate is the engine's already
  Downmix downmix_;
  bool finished_ = false;
  int64_t frames_in_ = 0;
  int64_t samples_out_ = 0;  // appended to output_ in total
  std::vector<float> mono_;
  std::vector<float> output_;
  size_t read_ = 0;  // samples at the front of output_ that were popped
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_AUDIO_RESAMPLER_H_
