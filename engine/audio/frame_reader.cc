#include "engine/audio/frame_reader.h"

#include <algorithm>
#include <cstddef>
#include <string>
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
        rate_hz_(reader_->rate_hz()),
        channels_(reader_->channels()),
        max_duration_(limits.max_duration) {
    SizeBlock();
  }

  // Decodes one block into the resampler, or notes why there is none.
  void Decode() {
    absl::StatusOr<size_t> frames = reader_->ReadFrames(absl::MakeSpan(block_));
    if (!frames.ok() || *frames == 0) return Finish(frames.status());
    if (absl::Status status = FollowFormat(); !status.ok()) return Finish(std::move(status));
    const auto samples = std::min(*frames * static_cast<size_t>(channels_), block_.size());
    resampler_.Push(absl::MakeConstSpan(block_.data(), samples));
    seconds_ += static_cast<double>(*frames) / rate_hz_;
    if (seconds_ > absl::ToDoubleSeconds(max_duration_)) {
      Finish(absl::InvalidArgumentError(absl::StrCat("the audio lasts longer than ",
                                                     absl::FormatDuration(max_duration_),
                                                     ", which is the most "
                                                     "that is decoded")));
    }
  }

  absl::StatusOr<Block> Read(absl::Span<float> out) override {
    Block block;
    for (;;) {
      block.frames += Pop(out.subspan(block.frames));
      if (block.frames == out.size() && (!ended_ || available() > 0)) return block;
      if (ended_) break;
      Decode();
    }
    if (!final_.ok() && block.frames == 0) return final_;
    if (final_.ok()) block.state = State::kEnd;
    return block;
  }

  std::optional<absl::Duration> TotalDuration() const override {
    const std::optional<int64_t> frames = reader_->total_frames();
    if (!frames.has_value()) return std::nullopt;
    const double seconds = static_cast<double>(*frames) / reader_->rate_hz();
    if (seconds > absl::ToDoubleSeconds(max_duration_)) return std::nullopt;
    return absl::Seconds(seconds);
  }

  bool IsLive() const override { return false; }

  std::string Remark() const override {
    std::string remark = reader_->Remark();
    if (seconds_of_one_channel_ + resampler_.seconds_of_one_channel() < kWorthARemark)
      return remark;
    if (!remark.empty()) remark += "; ";
    return remark + "its channels cancel each other: where they do, one of them was heard alone";
  }

  bool has_audio() const { return seconds_ > 0; }
  const absl::Status& final_status() const { return final_; }

 private:
  static constexpr double kWorthARemark = 0.5;  // seconds

  // Twenty milliseconds at a time: enough to be quick, little enough for any micro-step.
  void SizeBlock() {
    const auto frames = static_cast<size_t>(std::max(rate_hz_ / 50, 16));
    block_.resize(std::max<size_t>(frames * static_cast<size_t>(channels_), kMaxAudioChannels));
  }

  // The next of several files in a row may have another format.
  absl::Status FollowFormat() {
    if (reader_->rate_hz() == rate_hz_ && reader_->channels() == channels_) return absl::OkStatus();
    absl::StatusOr<Resampler> next = Resampler::Create(reader_->rate_hz(), reader_->channels());
    if (!next.ok()) return next.status();
    resampler_.Finish();
    seconds_of_one_channel_ += resampler_.seconds_of_one_channel();
    before_.erase(before_.begin(), before_.begin() + static_cast<std::ptrdiff_t>(popped_before_));
    popped_before_ = 0;
    const size_t kept = before_.size();
    before_.resize(kept + resampler_.available());
    resampler_.Pop(absl::MakeSpan(before_).subspan(kept));
    resampler_ = *std::move(next);
    rate_hz_ = reader_->rate_hz();
    channels_ = reader_->channels();
    return absl::OkStatus();
  }

  size_t available() const { return before_.size() - popped_before_ + resampler_.available(); }

  size_t Pop(absl::Span<float> out) {
    const size_t count = std::min(out.size(), before_.size() - popped_before_);
    std::copy_n(before_.begin() + static_cast<std::ptrdiff_t>(popped_before_), count, out.begin());
    popped_before_ += count;
    return count + resampler_.Pop(out.subspan(count));
  }

  void Finish(absl::Status status) {
    final_ = std::move(status);
    ended_ = true;
    resampler_.Finish();
  }

  std::unique_ptr<FrameReader> reader_;
  Resampler resampler_;
  int rate_hz_;  // of the resampler
  int channels_;
  absl::Duration max_duration_;
  std::vector<float> block_;
  std::vector<float> before_;  // what resamplers of earlier formats gave
  size_t popped_before_ = 0;
  double seconds_ = 0;  // decoded
  double seconds_of_one_channel_ = 0;
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
  if (!source->has_audio()) {
    if (!source->final_status().ok()) return source->final_status();
    return absl::InvalidArgumentError("there is a header, but it holds no audio");
  }
  return source;
}

}  // namespace superfluid
