#include "tools/decode/pcm_output.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/audio/audio_source.h"

namespace superfluid::decode {
namespace {

constexpr size_t kBlockSamples = 16384;

absl::Status WriteAll(int fd, const char* bytes, size_t length) {
  while (length > 0) {
    const ssize_t written = write(fd, bytes, length);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return absl::UnavailableError("the reader of the samples is gone");
    bytes += written;
    length -= static_cast<size_t>(written);
  }
  return absl::OkStatus();
}

}  // namespace

PcmOutput::PcmOutput(int fd, uint64_t max_seconds)
    : fd_(fd), max_samples_(max_seconds * kEngineSampleRateHz), block_(kBlockSamples) {}

absl::Status PcmOutput::Write(absl::Span<const float> interleaved, int rate_hz, int channels) {
  if (!resampler_.has_value() || rate_hz != rate_hz_ || channels != channels_) {
    if (absl::Status status = EndPart(); !status.ok()) return status;
    absl::StatusOr<Resampler> resampler = Resampler::Create(rate_hz, channels);
    if (!resampler.ok()) return resampler.status();
    resampler_.emplace(*std::move(resampler));
    rate_hz_ = rate_hz;
    channels_ = channels;
  }
  resampler_->Push(interleaved);
  return Drain();
}

absl::Status PcmOutput::WriteSilence(double seconds) {
  if (absl::Status status = EndPart(); !status.ok()) return status;
  auto left = static_cast<uint64_t>(std::llround(seconds * kEngineSampleRateHz));
  finished_seconds_ += static_cast<double>(left) / kEngineSampleRateHz;
  std::fill(block_.begin(), block_.end(), 0.0F);
  while (left > 0) {
    const uint64_t count = std::min<uint64_t>(left, block_.size());
    if (absl::Status status = Send(absl::MakeConstSpan(block_).first(count)); !status.ok()) {
      return status;
    }
    left -= count;
  }
  return absl::OkStatus();
}

absl::Status PcmOutput::Finish() { return EndPart(); }

double PcmOutput::seconds() const {
  if (!resampler_.has_value()) return finished_seconds_;
  return finished_seconds_ + static_cast<double>(resampler_->frames_in()) / rate_hz_;
}

absl::Status PcmOutput::EndPart() {
  if (!resampler_.has_value()) return absl::OkStatus();
  resampler_->Finish();
  absl::Status status = Drain();
  finished_seconds_ = seconds();
  resampler_.reset();
  return status;
}

absl::Status PcmOutput::Drain() {
  while (const size_t count = resampler_->Pop(absl::MakeSpan(block_))) {
    if (absl::Status status = Send(absl::MakeConstSpan(block_).first(count)); !status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

absl::Status PcmOutput::Send(absl::Span<const float> samples) {
  const uint64_t count = std::min<uint64_t>(samples.size(), max_samples_ - samples_);
  const absl::Status status = WriteAll(fd_, reinterpret_cast<const char*>(samples.data()),
                                       static_cast<size_t>(count) * sizeof(float));
  if (!status.ok()) return status;
  samples_ += count;
  if (count == samples.size()) return absl::OkStatus();
  return absl::OutOfRangeError(absl::StrCat(
      "it is longer than the ", max_samples_ / kEngineSampleRateHz, " s that are allowed"));
}

}  // namespace superfluid::decode
