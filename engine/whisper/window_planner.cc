#include "engine/whisper/window_planner.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <deque>
#include <utility>
#include <vector>

#include "engine/whisper/silence.h"
#include "engine/whisper/speech_finder.h"

namespace superfluid {
namespace {

using Kind = WindowPlan::Kind;

constexpr int64_t kBlocksAtOnce = 8;    // that a Look looks at
constexpr int64_t kLeadSamples = 3200;  // kept before speech that follows a pause
constexpr int64_t kLeastSkip = 16'000;  // skipping less is not worth it
constexpr float kQuietShare = 0.0316F;  // 30 dB below the loudest
constexpr float kFading = 0.9978F;      // of the loudest, a block: halved in ten seconds

class FixedWindows : public WindowPlanner {
 public:
  absl::StatusOr<bool> Look(const AudioBuffer& /*audio*/) override { return true; }

  WindowPlan Plan(const AudioBuffer& audio, int64_t position) override {
    const int64_t known = audio.end() - position;
    if (known <= kWindowSamples && !audio.over()) return {};
    if (known == 0) return {.kind = Kind::kDone};
    const int64_t end = position + std::min(known, kWindowSamples);
    const bool silent = IsSilent(audio.View(position, end));
    return {.kind = silent ? Kind::kSkip : Kind::kWindow,
            .begin = position,
            .end = end,
            .one_decode = known > kWindowSamples};
  }
};

// Values of consecutive blocks of audio, of which the oldest may be forgotten.
class Blocks {
 public:
  int64_t begin() const { return begin_; }  // samples
  int64_t end() const {
    return begin_ + static_cast<int64_t>(values_.size()) * kSpeechBlockSamples;
  }
  void Push(float value) { values_.push_back(value); }
  // Whole blocks before `sample`.
  void DropBefore(int64_t sample) {
    while (!values_.empty() && begin_ + kSpeechBlockSamples <= sample) {
      values_.pop_front();
      begin_ += kSpeechBlockSamples;
    }
  }
  const std::deque<float>& values() const { return values_; }

 private:
  std::deque<float> values_;
  int64_t begin_ = 0;
};

// Samples of the next blocks to look at: whole ones, at the end of the audio also the last.
int64_t NextSamples(const AudioBuffer& audio, int64_t looked_at) {
  const int64_t known = audio.end() - looked_at;
  const int64_t most = kBlocksAtOnce * kSpeechBlockSamples;
  if (known >= most || audio.over()) return std::clamp<int64_t>(known, 0, most);
  return known / kSpeechBlockSamples * kSpeechBlockSamples;
}

bool IsAtEnd(const AudioBuffer& audio, int64_t position) {
  return audio.over() && position >= audio.end();
}

float Loudness(absl::Span<const float> samples) {
  double sum = 0;
  for (const float sample : samples) sum += static_cast<double>(sample) * sample;
  return static_cast<float>(
      std::sqrt(sum / static_cast<double>(std::max<size_t>(samples.size(), 1))));
}

class LoudnessWindows : public WindowPlanner {
 public:
  explicit LoudnessWindows(int64_t pause_samples) : pause_samples_(pause_samples) {}

  absl::StatusOr<bool> Look(const AudioBuffer& audio) override {
    const int64_t from = blocks_.end();
    const int64_t count = NextSamples(audio, from);
    for (int64_t at = from; at < from + count; at += kSpeechBlockSamples) {
      const int64_t to = std::min(at + kSpeechBlockSamples, from + count);
      blocks_.Push(IsLoud(audio.View(at, to)) ? 1.0F : 0.0F);
    }
    return NextSamples(audio, blocks_.end()) == 0;
  }

  WindowPlan Plan(const AudioBuffer& audio, int64_t position) override {
    if (IsAtEnd(audio, position)) return {.kind = Kind::kDone};
    blocks_.DropBefore(position);
    const int64_t first = FirstLoud();
    if (first < 0) return WithoutSpeech(audio, position);
    WindowPlan plan{.begin = BeginOf(position, first)};
    plan.end = EndOf(first);
    const bool full = audio.end() - plan.begin > kWindowSamples;
    if (plan.end < 0 && audio.over() && !full) plan.end = audio.end();
    if (full && (plan.end < 0 || plan.end > plan.begin + kWindowSamples)) {
      plan.end = plan.begin + kWindowSamples;
      plan.one_decode = true;
    }
    if (plan.end < 0) return plan;
    plan.kind = Kind::kWindow;
    plan.end = std::min(plan.end, audio.end());
    skipped_ = false;
    return plan;
  }

 private:
  bool IsLoud(absl::Span<const float> block) {
    const float loudness = IsSilent(block) ? 0 : Loudness(block);
    loudest_ = std::max(loudest_ * kFading, loudness);
    return loudness > loudest_ * kQuietShare;
  }

  int64_t FirstLoud() const {
    int64_t at = blocks_.begin();
    for (const float value : blocks_.values()) {
      if (value > 0) return at;
      at += kSpeechBlockSamples;
    }
    return -1;
  }

  // A short silence before the speech belongs to it, a long one does not.
  int64_t BeginOf(int64_t position, int64_t first) const {
    if (!skipped_ && first - position < pause_samples_) return position;
    return std::max(position, first - kLeadSamples);
  }

  // Where the first pause after `first` is long enough; -1: nowhere yet.
  int64_t EndOf(int64_t first) const {
    int64_t at = blocks_.begin();
    int64_t quiet_since = first;
    for (const float value : blocks_.values()) {
      at += kSpeechBlockSamples;
      if (value > 0) quiet_since = at;
      if (at - quiet_since >= pause_samples_) return at;
    }
    return -1;
  }

  WindowPlan WithoutSpeech(const AudioBuffer& audio, int64_t position) {
    if (audio.over()) return {.kind = Kind::kDone};
    const int64_t keep_from = blocks_.end() - kLeadSamples;
    if (keep_from - position < pause_samples_) return {};
    skipped_ = true;
    return {.kind = Kind::kSkip, .end = keep_from};
  }

  const int64_t pause_samples_;
  Blocks blocks_;  // 1: loud
  float loudest_ = 0;
  bool skipped_ = false;  // silence before `position` was skipped
};

class SpeechWindows : public WindowPlanner {
 public:
  SpeechWindows(HearSpeech hear, float threshold, int64_t pause_samples)
      : hear_(std::move(hear)), threshold_(threshold), pause_samples_(pause_samples) {}

  absl::StatusOr<bool> Look(const AudioBuffer& audio) override {
    const int64_t from = blocks_.end();
    const int64_t count = NextSamples(audio, from);
    if (count > 0) {
      absl::StatusOr<std::vector<float>> heard = hear_(audio.View(from, from + count));
      if (!heard.ok()) return heard.status();
      for (const float probability : *heard) blocks_.Push(probability);
    }
    return NextSamples(audio, blocks_.end()) == 0;
  }

  WindowPlan Plan(const AudioBuffer& audio, int64_t position) override {
    if (IsAtEnd(audio, position)) return {.kind = Kind::kDone};
    blocks_.DropBefore(position);
    const std::vector<float> values(blocks_.values().begin(), blocks_.values().end());
    const FoundSpeech found = FindSpeech(values, threshold_);
    const int64_t offset = blocks_.begin();
    if (found.regions.empty()) return WithoutSpeech(audio, position, found);
    WindowPlan plan{.begin = std::max(position, offset + found.regions.front().begin)};
    const int64_t end = std::min(offset + EndOf(found), audio.end());
    const bool goes_on = !audio.over() && GoesOn(audio, end, offset, found);
    if (end - plan.begin > kWindowSamples) {
      plan.one_decode = true;
      plan.end = plan.begin + kWindowSamples;
    } else if (goes_on) {
      return plan;
    } else {
      plan.end = end;
    }
    plan.kind = Kind::kWindow;
    return plan;
  }

 private:
  // Where the speech that begins with the first region ends.
  int64_t EndOf(const FoundSpeech& found) const {
    int64_t end = found.regions.front().end;
    for (const SpeechRegion& region : found.regions) {
      if (region.begin - end >= pause_samples_) break;
      end = region.end;
    }
    return end;
  }

  // Whether what comes may still belong to the speech that ends at `end` so far.
  bool GoesOn(const AudioBuffer& audio, int64_t end, int64_t offset,
              const FoundSpeech& found) const {
    if (found.unfinished >= 0 && offset + found.unfinished - end < pause_samples_) return true;
    return std::min(blocks_.end(), audio.end()) - end < pause_samples_;
  }

  WindowPlan WithoutSpeech(const AudioBuffer& audio, int64_t position, const FoundSpeech& found) {
    if (audio.over()) return {.kind = Kind::kDone};
    if (found.unfinished >= 0) return {};
    const int64_t keep_from = blocks_.end() - kLeadSamples;
    if (keep_from - position < kLeastSkip) return {};
    return {.kind = Kind::kSkip, .end = keep_from};
  }

  const HearSpeech hear_;
  const float threshold_;
  const int64_t pause_samples_;
  Blocks blocks_;  // probabilities
};

}  // namespace

std::unique_ptr<WindowPlanner> PlanFixedWindows() { return std::make_unique<FixedWindows>(); }

std::unique_ptr<WindowPlanner> PlanByLoudness(int64_t pause_samples) {
  return std::make_unique<LoudnessWindows>(pause_samples);
}

std::unique_ptr<WindowPlanner> PlanBySpeech(HearSpeech hear, float threshold,
                                            int64_t pause_samples) {
  return std::make_unique<SpeechWindows>(std::move(hear), threshold, pause_samples);
}

}  // namespace superfluid
