#include "engine/audio/resampler.h"

#include <soxr.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/audio/audio_limits.h"
#include "engine/audio/audio_source.h"

namespace superfluid {
namespace {

float Finite(float sample) { return std::isfinite(sample) ? sample : 0.0F; }

soxr_t AsSoxr(void* pointer) { return static_cast<soxr_t>(pointer); }

}  // namespace

void Resampler::SoxrDelete::operator()(void* soxr) const { soxr_delete(AsSoxr(soxr)); }

absl::Status Resampler::Validate(int rate_hz, int channels) {
  if (rate_hz < kMinAudioRateHz || rate_hz > kMaxAudioRateHz) {
    return absl::InvalidArgumentError(absl::StrCat("a sample rate of ", rate_hz,
                                                   " Hz is not supported (", kMinAudioRateHz,
                                                   " to ", kMaxAudioRateHz, " Hz are)"));
  }
  if (channels < 1 || channels > kMaxAudioChannels) {
    return absl::InvalidArgumentError(absl::StrCat(
        channels, " audio channels are not supported (1 to ", kMaxAudioChannels, " are)"));
  }
  return absl::OkStatus();
}

absl::StatusOr<Resampler> Resampler::Create(int rate_hz, int channels) {
  if (absl::Status status = Validate(rate_hz, channels); !status.ok()) return status;
  Soxr soxr;
  if (rate_hz != kEngineSampleRateHz) {
    const soxr_io_spec_t io = soxr_io_spec(SOXR_FLOAT32_I, SOXR_FLOAT32_I);
    const soxr_quality_spec_t quality = soxr_quality_spec(SOXR_HQ, 0);
    const soxr_runtime_spec_t runtime = soxr_runtime_spec(1);
    soxr_error_t error = nullptr;
    soxr.reset(soxr_create(rate_hz, kEngineSampleRateHz, 1, &error, &io, &quality, &runtime));
    if (soxr == nullptr || error != nullptr) {
      return absl::InternalError("the sample rate converter cannot be made");
    }
  }
  return Resampler(rate_hz, channels, std::move(soxr));
}

Resampler::Resampler(int rate_hz, int channels, Soxr soxr)
    : rate_hz_(rate_hz), soxr_(std::move(soxr)), downmix_(rate_hz, channels) {}

void Resampler::Push(absl::Span<const float> interleaved) {
  mono_.clear();
  downmix_.Mix(interleaved, mono_);
  const size_t frames = mono_.size();
  frames_in_ += static_cast<int64_t>(frames);
  if (soxr_ == nullptr) {
    Append(mono_.data(), frames);
  } else {
    Convert(mono_.data(), frames);
  }
}

void Resampler::Finish() {
  if (std::exchange(finished_, true) || soxr_ == nullptr) return;
  Convert(nullptr, 0);
  // The converter's own idea of the length may be off by one.
  const auto wanted =
      std::llround(static_cast<double>(frames_in_) * kEngineSampleRateHz / rate_hz_);
  while (samples_out_ < wanted) {
    const float silence = 0;
    Append(&silence, 1);
  }
  if (samples_out_ > wanted) {
    const auto excess = std::min(static_cast<size_t>(samples_out_ - wanted), available());
    output_.resize(output_.size() - excess);
    samples_out_ = wanted;
  }
}

// `mono` == nullptr flushes.
void Resampler::Convert(const float* mono, size_t frames) {
  std::array<float, 2048> out = {};
  size_t used = 0;
  for (;;) {
    size_t read = 0;
    size_t written = 0;
    soxr_process(AsSoxr(soxr_.get()), mono == nullptr ? nullptr : mono + used, frames - used, &read,
                 out.data(), out.size(), &written);
    used += read;
    Append(out.data(), written);
    const bool drained = written < out.size();
    if (drained && (mono == nullptr || used == frames || read == 0)) return;
  }
}

void Resampler::Append(const float* samples, size_t count) {
  if (read_ > 0 && read_ == output_.size()) {
    output_.clear();
    read_ = 0;
  }
  for (size_t i = 0; i < count; ++i) {
    output_.push_back(std::clamp(Finite(samples[i]), -1.0F, 1.0F));
  }
  samples_out_ += static_cast<int64_t>(count);
}

size_t Resampler::Pop(absl::Span<float> out) {
  const size_t count = std::min(out.size(), available());
  std::copy_n(output_.begin() + static_cast<std::ptrdiff_t>(read_), count, out.begin());
  read_ += count;
  return count;
}

}  // namespace superfluid
