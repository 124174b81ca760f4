#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/engine.h"
#include "engine/sdk/plugin.h"

// "Transcribes" how loud each second is.
class LoudnessJob : public superfluid::TranscriptionJob {
 public:
  explicit LoudnessJob(std::unique_ptr<superfluid::AudioSource> audio) : audio_(std::move(audio)) {}

  absl::StatusOr<superfluid::StepOutcome> Step(const superfluid::StepBudget& /*budget*/,
                                               const superfluid::CancelToken& token,
                                               superfluid::SegmentSink& sink) override {
    if (token.cancelled()) return absl::CancelledError("as asked");
    std::array<float, 1600> block;
    absl::StatusOr<superfluid::AudioSource::Block> got = audio_->Read(absl::MakeSpan(block));
    if (!got.ok()) return got.status();
    for (size_t i = 0; i < got->frames; ++i) Hear(block[i], sink);
    if (got->state == superfluid::AudioSource::State::kMore) return superfluid::StepOutcome::kMore;
    if (got->state == superfluid::AudioSource::State::kStarved) {
      return superfluid::StepOutcome::kWaitingForAudio;
    }
    Say(sink);
    return superfluid::StepOutcome::kDone;
  }

  superfluid::TranscriptionProgress Progress() const override {
    return {.language = "zxx", .audio_ms = heard_ / 16, .audio_total_ms = 0};
  }

 private:
  void Hear(float sample, superfluid::SegmentSink& sink) {
    loudest_ = std::max(loudest_, std::abs(sample));
    if (++heard_ % superfluid::kEngineSampleRateHz == 0) Say(sink);
  }
  void Say(superfluid::SegmentSink& sink) {
    if (loudest_ > 0.01F) {
      superfluid::TranscribedSegment segment;
      segment.start_ms = said_ / 16;
      segment.end_ms = heard_ / 16;
      segment.text = loudest_ > 0.3F ? "loud" : "quiet";
      sink.OnSegment(segment);
    }
    said_ = heard_;
    loudest_ = 0;
  }

  std::unique_ptr<superfluid::AudioSource> audio_;
  int64_t heard_ = 0;  // samples
  int64_t said_ = 0;
  float loudest_ = 0;
};

class LoudnessEngine : public superfluid::Engine {
 public:
  LoudnessEngine() {
    info_.name = "loudness";
    info_.max_transcriptions = 4;
  }
  const superfluid::EngineInfo& info() const override { return info_; }
  std::string CapabilitiesJson() const override { return R"({"calls": ["transcribe"]})"; }
  absl::StatusOr<std::unique_ptr<superfluid::TranscriptionJob>> StartTranscription(
      const superfluid::TranscriptionParams& /*params*/,
      std::unique_ptr<superfluid::AudioSource> audio) override {
    return std::make_unique<LoudnessJob>(std::move(audio));
  }

 private:
  superfluid::EngineInfo info_;
};

absl::StatusOr<std::unique_ptr<superfluid::Engine>> MakeLoudnessEngine(
    const superfluid::EngineConfig& /*config*/) {
  return std::make_unique<LoudnessEngine>();
}

SUPERFLUID_ENGINE_PLUGIN(MakeLoudnessEngine)
