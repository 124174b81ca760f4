#include "engine/audio/live_audio.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/audio/pcm.h"
#include "engine/audio/pcm_convert.h"
#include "engine/audio/resampler.h"

namespace superfluid {

// What the two halves share: bytes as they were pushed, converted when they are read.
struct LiveAudio::Queue {
  Queue(const PcmFormat& pcm_format, Resampler converter, size_t max)
      : format(pcm_format), resampler(std::move(converter)), max_bytes(max) {}

  size_t unread_bytes() const { return bytes.size() - read; }

  PcmFormat format;
  Resampler resampler;
  size_t max_bytes;
  std::vector<std::byte> bytes;
  size_t read = 0;  // bytes at the front that were converted
  bool ended = false;
  bool source_gone = false;
};

class LiveAudio::Source : public AudioSource {
 public:
  explicit Source(std::shared_ptr<Queue> queue) : queue_(std::move(queue)) {}
  ~Source() override {
    queue_->source_gone = true;
    queue_->bytes = {};
    queue_->read = 0;
  }
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  absl::StatusOr<Block> Read(absl::Span<float> out) override {
    Block block;
    for (;;) {
      block.frames += queue_->resampler.Pop(out.subspan(block.frames));
      if (queue_->resampler.available() > 0) return block;  // `out` is full
      if (finished_) {
        block.state = State::kEnd;
        return block;
      }
      if (ConvertSome()) continue;
      if (!queue_->ended) {
        block.state = block.frames == out.size() && !out.empty() ? State::kMore : State::kStarved;
        return block;
      }
      queue_->resampler.Finish();
      finished_ = true;
    }
  }

  std::optional<absl::Duration> TotalDuration() const override { return std::nullopt; }
  bool IsLive() const override { return true; }

 private:
  // Moves up to 20 ms from the queue into the resampler; false if there is no whole frame.
  bool ConvertSome() {
    const size_t frame_bytes = queue_->format.frame_bytes();
    const size_t most = static_cast<size_t>(std::max(queue_->format.rate_hz / 50, 16));
    const size_t frames = std::min(queue_->unread_bytes() / frame_bytes, most);
    if (frames == 0) return false;
    const auto bytes =
        absl::MakeConstSpan(queue_->bytes).subspan(queue_->read, frames * frame_bytes);
    floats_.resize(frames * static_cast<size_t>(queue_->format.channels));
    PcmToFloat(bytes, queue_->format.encoding, absl::MakeSpan(floats_));
    queue_->resampler.Push(floats_);
    queue_->read += bytes.size();
    Compact();
    return true;
  }

  // Gives read bytes back once they are the larger half, so that each byte moves once on average.
  void Compact() {
    if (queue_->read * 2 < queue_->bytes.size()) return;
    queue_->bytes.erase(queue_->bytes.begin(),
                        queue_->bytes.begin() + static_cast<std::ptrdiff_t>(queue_->read));
    queue_->read = 0;
  }

  std::shared_ptr<Queue> queue_;
  bool finished_ = false;
  std::vector<float> floats_;
};

absl::StatusOr<std::unique_ptr<LiveAudio>> LiveAudio::Create(const PcmFormat& format,
                                                             absl::Duration max_unread) {
  if (absl::Status status = ValidatePcmFormat(format); !status.ok()) return status;
  absl::StatusOr<Resampler> resampler = Resampler::Create(format.rate_hz, format.channels);
  if (!resampler.ok()) return resampler.status();
  const double max_frames = absl::ToDoubleSeconds(max_unread) * format.rate_hz;
  const auto max_bytes = static_cast<size_t>(std::max(max_frames, 1.0)) * format.frame_bytes();
  return std::unique_ptr<LiveAudio>(
      new LiveAudio(std::make_shared<Queue>(format, *std::move(resampler), max_bytes)));
}

LiveAudio::LiveAudio(std::shared_ptr<Queue> queue)
    : queue_(std::move(queue)), source_(std::make_unique<Source>(queue_)) {}

LiveAudio::~LiveAudio() = default;

std::unique_ptr<AudioSource> LiveAudio::TakeSource() { return std::move(source_); }

absl::Status LiveAudio::Push(absl::Span<const std::byte> bytes) {
  if (queue_->ended) return absl::FailedPreconditionError("the live audio has ended");
  if (queue_->source_gone) return absl::CancelledError("nobody reads this live audio any more");
  if (bytes.size() > queue_->max_bytes - std::min(queue_->unread_bytes(), queue_->max_bytes)) {
    return absl::ResourceExhaustedError(
        absl::StrCat("more live audio than can wait: ", absl::FormatDuration(unread()),
                     " are not transcribed yet"));
  }
  queue_->bytes.insert(queue_->bytes.end(), bytes.begin(), bytes.end());
  return absl::OkStatus();
}

void LiveAudio::End() { queue_->ended = true; }

size_t LiveAudio::unread_bytes() const { return queue_->unread_bytes(); }

absl::Duration LiveAudio::unread() const {
  const size_t frames = queue_->unread_bytes() / queue_->format.frame_bytes();
  return absl::Seconds(static_cast<double>(frames) / queue_->format.rate_hz);
}

}  // namespace superfluid
