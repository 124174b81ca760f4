#include "engine/audio/downmix.h"

#include <algorithm>
#include <cmath>

namespace superfluid {
namespace {

constexpr double kMemorySeconds = 0.5;
constexpr double kFadeSeconds = 0.01;
// A lone channel among n has a mean of 1/n of its amplitude, which is no cancellation; so much less
// power than that is one, and stays one up to so much.
constexpr double kCancels = 1.0 / 16;
constexpr double kCancelsNoMore = 1.0 / 4;

float Finite(float sample) { return std::isfinite(sample) ? sample : 0; }

}  // namespace

Downmix::Downmix(int rate_hz, int channels)
    : channels_(static_cast<size_t>(channels)),
      decay_(std::exp(-1.0 / (kMemorySeconds * rate_hz))),
      fade_(1.0 / std::max(kFadeSeconds * rate_hz, 1.0)),
      powers_(channels_) {}

void Downmix::Mix(absl::Span<const float> interleaved, std::vector<float>& mono) {
  const size_t frames = interleaved.size() / channels_;
  mono.reserve(mono.size() + frames);
  for (size_t i = 0; i < frames; ++i) {
    const float* frame = interleaved.data() + i * channels_;
    // A sum of finite floats of any size stays finite in a double.
    double mean = 0;
    for (size_t channel = 0; channel < channels_; ++channel) mean += Finite(frame[channel]);
    mean /= static_cast<double>(channels_);
    if (channels_ > 1) Follow(frame, mean);
    const double mixed = share_ > 0 ? mean + share_ * (Finite(frame[chosen_]) - mean) : mean;
    if (share_ > 0.5) ++frames_of_one_channel_;
    mono.push_back(static_cast<float>(std::clamp(mixed, -1e6, 1e6)));
  }
}

// Follows the powers, and decides by them.
void Downmix::Follow(const float* frame, double mean) {
  size_t loudest = 0;
  for (size_t channel = 0; channel < channels_; ++channel) {
    const double sample = std::clamp(Finite(frame[channel]), -1e6F, 1e6F);
    powers_[channel] = powers_[channel] * decay_ + sample * sample;
    if (powers_[channel] > powers_[loudest]) loudest = channel;
  }
  power_of_mean_ = power_of_mean_ * decay_ + std::min(mean * mean, 1e12);
  const auto n = static_cast<double>(channels_);
  const double alone = powers_[loudest] / (n * n);
  const bool cancels = power_of_mean_ < alone * (cancels_ ? kCancelsNoMore : kCancels);
  if (cancels && !cancels_ && share_ <= 0) chosen_ = loudest;
  cancels_ = cancels;
  share_ = std::clamp(share_ + (cancels_ ? fade_ : -fade_), 0.0, 1.0);
}

}  // namespace superfluid
