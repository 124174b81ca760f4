#include "engine/audio/pcm.h"

#include <algorithm>
#include <utility>

#include "engine/audio/frame_reader.h"
#include "engine/audio/pcm_convert.h"
#include "engine/audio/resampler.h"

namespace superfluid {
namespace {

class PcmReader : public FrameReader {
 public:
  PcmReader(absl::Span<const std::byte> bytes, std::shared_ptr<const void> keepalive,
            const PcmFormat& format)
      : bytes_(bytes), keepalive_(std::move(keepalive)), format_(format) {}

  int rate_hz() const override { return format_.rate_hz; }
  int channels() const override { return format_.channels; }

  std::optional<int64_t> total_frames() const override {
    return static_cast<int64_t>(bytes_.size() / format_.frame_bytes());
  }

  absl::StatusOr<size_t> ReadFrames(absl::Span<float> out) override {
    const size_t wanted = out.size() / static_cast<size_t>(format_.channels);
    const size_t left = (bytes_.size() - offset_) / format_.frame_bytes();
    const size_t frames = std::min(wanted, left);
    const size_t length = frames * format_.frame_bytes();
    PcmToFloat(bytes_.subspan(offset_, length), format_.encoding, out);
    offset_ += length;
    return frames;
  }

 private:
  absl::Span<const std::byte> bytes_;
  std::shared_ptr<const void> keepalive_;
  PcmFormat format_;
  size_t offset_ = 0;
};

}  // namespace

absl::Status ValidatePcmFormat(const PcmFormat& format) {
  if (format.encoding != PcmEncoding::kS16 && format.encoding != PcmEncoding::kF32) {
    return absl::InvalidArgumentError("the PCM encoding is not known");
  }
  return Resampler::Validate(format.rate_hz, format.channels);
}

absl::StatusOr<std::unique_ptr<AudioSource>> OpenPcm(absl::Span<const std::byte> bytes,
                                                     std::shared_ptr<const void> keepalive,
                                                     const PcmFormat& format) {
  if (absl::Status status = ValidatePcmFormat(format); !status.ok()) return status;
  if (bytes.size() < format.frame_bytes()) {
    return absl::InvalidArgumentError("the PCM buffer holds no audio");
  }
  return MakeRecordedSource(std::make_unique<PcmReader>(bytes, std::move(keepalive), format),
                            AudioLimits{});
}

}  // namespace superfluid
