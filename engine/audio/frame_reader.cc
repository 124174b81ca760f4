#include "engine/audio/frame_reader.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "engine/audio/resampler.h"

namespace superfluid {
namespace {

class RecordedSource : public AudioSource {
 public:
  RecordedSource(std::unique_ptr<FrameReader> reader, Resampler resampler,
                 const AudioLimits& limits)
      : reader_(std::move(reader)),
        resampler_(std::move(resampler)),
        max_duration_(limits.max_duration),
        max_frames_(absl::ToDoubleSeconds(limits.max_duration) * reader_->rate_hz()) {
    // Twenty milliseconds at a time: enough to be quick, little enough for any micro-step.
    const auto frames = static_cast<size_t>(std::max(reader_->rate_hz() / 50, 16));
    block_.resize(frames * static_cast<size_t>(reader_->channels()));
  }

  // Decodes one block into the resampler, or notes why there is none.
  void Decode() {
    absl::StatusOr<size_t> frames = reader_->ReadFrames(absl::MakeSpan(block_));
    if (!frames.ok() || *frames == 0) return Finish(frames.status());
    const auto samples =
        std::min(*frames * static_cast<size_t>(reader_->channels()), block_.size());
    resampler_.Push(absl::MakeConstSpan(block_.data(), samples));
    if (static_cast<double>(resampler_.frames_in()) > max_frames_) {
      Finish(absl::InvalidArgumentError(absl::StrCat("the audio lasts longer than ",
                                                     absl::FormatDuration(max_duration_),
                                                     ", which is the most "
                                                     "that is decoded")));
    }
  }

  absl::StatusOr<Block> Read(absl::Span<float> out) override {
    Block block;
    for (;;) {
      block.frames += resampler_.Pop(out.subspan(block.frames));
      if (block.frames == out.size() && (!ended_ || resampler_.available() > 0)) return block;
      if (ended_) break;
      Decode();
    }
    if (!final_.ok() && block.frames == 0) return final_;
    if (final_.ok()) block.state = State::kEnd;
    return block;
  }

  std::optional<absl::Duration> TotalDuration() const override {
    const std::optional<int64_t> frames = reader_->total_frames();
    if (!frames.has_value() || static_cast<double>(*frames) > max_frames_) return std::nullopt;
    return absl::Seconds(static_cast<double>(*frames) / reader_->rate_hz());
  }

  int64_t frames_decoded() const { return resampler_.frames_in(); }
  const absl::Status& final_status() const { return final_; }

 private:
  void Finish(absl::Status status) {
    final_ = std::move(status);
    ended_ = true;
    resampler_.Finish();
  }

  std::unique_ptr<FrameReader> reader_;
  Resampler resampler_;
  absl::Duration max_duration_;
  double max_frames_;
  std::vector<float> block_;
  bool ended_ = false;
  absl::Status final_;  // why there is no more, once ended_
};

}  // namespace

absl::StatusOr<std::unique_ptr<AudioSource>> MakeRecordedSource(std::unique_ptr<FrameReader> reader,
                                                                const AudioLimits& limits) {
  absl::StatusOr<Resampler> resampler = Resampler::Create(reader->rate_hz(), reader->channels());
  if (!resampler.ok()) return resampler.status();
  auto source = std::make_unique<RecordedSource>(std::move(reader), *std::move(resampler), limits);
  // A first block now, so that what cannot be decoded at all is refused at once.
  source->Decode();
  if (source->frames_decoded() == 0) {
    if (!source->final_status().ok()) return source->final_status();
    return absl::InvalidArgumentError("there is a header, but it holds no audio");
  }
  return source;
}

}  // namespace superfluid
