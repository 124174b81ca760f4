#include "engine/pocketsphinx/speech_frames.h"

#include <utility>

namespace superfluid {
namespace {

constexpr int64_t kWarmUpRecorded = 300;
constexpr int64_t kWarmUpLive = 100;

}  // namespace

SpeechFrames::SpeechFrames(std::unique_ptr<AudioSource> audio, std::unique_ptr<FrontEnd> front_end,
                           std::optional<Cepstrum> mean_prior)
    : audio_(std::move(audio)),
      front_end_(std::move(front_end)),
      warm_up_frames_(audio_->IsLive() ? kWarmUpLive : kWarmUpRecorded) {
  if (mean_prior.has_value()) {
    mean_.emplace(*std::move(mean_prior));
  } else {
    warm_up_frames_ = 0;
  }
}

std::optional<SpeechFrames::Event> SpeechFrames::Next() {
  if (events_.empty() || warm_up_frames_ > 0) return std::nullopt;
  Event event = std::move(events_.front());
  events_.pop_front();
  if (mean_.has_value() && event.kind == Event::Kind::kSpeech) mean_->Normalise(event.frame);
  return event;
}

void SpeechFrames::UtteranceEnded() {
  if (mean_.has_value()) mean_->Update();
}

absl::StatusOr<AudioSource::State> SpeechFrames::Advance() {
  absl::StatusOr<AudioSource::Block> read = audio_->Read(absl::MakeSpan(block_).subspan(filled_));
  const bool over = !read.ok() || read->state == AudioSource::State::kEnd;
  if (read.ok()) filled_ += read->frames;
  if (filled_ == block_.size() || over) ProcessBlock();
  if (over) {
    if (mean_.has_value() && warm_up_frames_ > 0) mean_->Update();
    warm_up_frames_ = 0;
    events_.push_back({Event::Kind::kPause, {}, 0});
  }
  if (!read.ok()) return read.status();
  return read->state;
}

void SpeechFrames::ProcessBlock() {
  samples_ += static_cast<int64_t>(filled_);
  fresh_.clear();
  front_end_->Process(absl::MakeConstSpan(block_).first(filled_), fresh_);
  filled_ = 0;
  int64_t number = front_end_->frame_count() - static_cast<int64_t>(fresh_.size());
  bool warm = false;
  for (Cepstrum& frame : fresh_) {
    if (mean_.has_value()) mean_->Observe(frame);
    events_.push_back({Event::Kind::kSpeech, std::move(frame), number++});
    warm = warm_up_frames_ > 0 && --warm_up_frames_ == 0;
  }
  const bool pause = was_in_speech_ && !front_end_->in_speech();
  was_in_speech_ = front_end_->in_speech();
  if (pause) {
    warm = warm || warm_up_frames_ > 0;
    warm_up_frames_ = 0;
    events_.push_back({Event::Kind::kPause, {}, 0});
  }
  if (warm && mean_.has_value()) mean_->Update();
}

}  // namespace superfluid
