#include "engine/whisper/window_planner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <optional>
#include <ostream>
#include <utility>
#include <vector>

#include "engine/whisper/speech_finder.h"

namespace superfluid {

static bool operator==(const WindowPlan& a, const WindowPlan& b) {
  return a.kind == b.kind && a.begin == b.begin && a.end == b.end && a.one_decode == b.one_decode;
}
static void PrintTo(const WindowPlan& plan, std::ostream* out) {
  *out << "[" << plan.begin << ", " << plan.end << ")" << (plan.one_decode ? " goes on" : "");
}

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int64_t kSecond = 16'000;

// Live audio of which a test decides how much has arrived.
class Arriving : public AudioSource {
 public:
  Arriving(const std::vector<float>* samples, const size_t* arrived)
      : samples_(samples), arrived_(arrived) {}

  absl::StatusOr<Block> Read(absl::Span<float> out) override {
    const size_t count = std::min(out.size(), *arrived_ - read_);
    std::copy_n(samples_->begin() + static_cast<std::ptrdiff_t>(read_), count, out.begin());
    read_ += count;
    if (read_ == samples_->size()) return Block{count, State::kEnd};
    return Block{count, read_ == *arrived_ ? State::kStarved : State::kMore};
  }
  std::optional<absl::Duration> TotalDuration() const override { return std::nullopt; }
  bool IsLive() const override { return true; }

 private:
  const std::vector<float>* samples_;
  const size_t* arrived_;
  size_t read_ = 0;
};

std::vector<float> Sound(const std::vector<std::pair<double, float>>& parts) {
  std::vector<float> samples;
  for (const auto& [seconds, amplitude] : parts) {
    const auto count = static_cast<size_t>(seconds * kSecond);
    for (size_t i = 0; i < count; ++i) {
      samples.push_back(amplitude * static_cast<float>(std::sin(0.3 * static_cast<double>(i))));
    }
  }
  return samples;
}

// All windows of a recording of which `chunk` samples arrive at a time. Each is taken as heard to
// its end, or to a second before if speech goes on.
std::vector<WindowPlan> AllWindows(WindowPlanner& planner, const std::vector<float>& samples,
                                   size_t chunk) {
  size_t arrived = 0;
  AudioBuffer audio(std::make_unique<Arriving>(&samples, &arrived));
  std::vector<WindowPlan> windows;
  int64_t position = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    const absl::StatusOr<bool> looked = planner.Look(audio);
    EXPECT_TRUE(looked.ok());
    if (!*looked) continue;
    const WindowPlan plan = planner.Plan(audio, position);
    if (plan.kind == WindowPlan::Kind::kDone) return windows;
    if (plan.kind == WindowPlan::Kind::kNeedMore) {
      EXPECT_FALSE(audio.over());
      if (audio.Read(4096) == AudioSource::State::kStarved) {
        arrived = std::min(arrived + chunk, samples.size());
      }
      continue;
    }
    if (plan.end <= position) break;
    const bool is_window = plan.kind == WindowPlan::Kind::kWindow;
    position = plan.end - (is_window && plan.one_decode ? kSecond : 0);
    audio.DropBefore(position);
    if (is_window) windows.push_back(plan);
  }
  ADD_FAILURE() << "it does not come to an end";
  return windows;
}

WindowPlan Window(int64_t begin, int64_t end, bool one_decode = false) {
  return {WindowPlan::Kind::kWindow, begin, end, one_decode};
}

std::vector<WindowPlan> Fixed(const std::vector<float>& samples, size_t chunk = 100'000) {
  return AllWindows(*PlanFixedWindows(), samples, chunk);
}

TEST(FixedWindowsTest, ShortAudioIsOneWindow) {
  EXPECT_THAT(Fixed({}), IsEmpty());
  EXPECT_THAT(Fixed(Sound({{0.01, 0.5F}})), ElementsAre(Window(0, 160)));
  EXPECT_THAT(Fixed(Sound({{30, 0.5F}})), ElementsAre(Window(0, kWindowSamples)));
}

TEST(FixedWindowsTest, LongAudioGoesOn) {
  EXPECT_THAT(Fixed(Sound({{70, 0.5F}})),
              ElementsAre(Window(0, 30 * kSecond, true), Window(29 * kSecond, 59 * kSecond, true),
                          Window(58 * kSecond, 70 * kSecond)));
}

TEST(FixedWindowsTest, SilentWindowsAreSkipped) {
  EXPECT_THAT(Fixed(Sound({{40, 0}})), IsEmpty());
  EXPECT_THAT(Fixed(Sound({{65, 0.0003F}, {5, 0.5F}})),
              ElementsAre(Window(60 * kSecond, 70 * kSecond)));
}

std::vector<WindowPlan> ByLoudness(const std::vector<float>& samples, size_t chunk = 100'000) {
  return AllWindows(*PlanByLoudness(kSecond), samples, chunk);
}

TEST(LoudnessWindowsTest, APauseEndsAWindow) {
  const std::vector<WindowPlan> windows = ByLoudness(Sound({{2, 0.5F}, {3, 0}, {2, 0.5F}}));
  ASSERT_THAT(windows, SizeIs(2));
  EXPECT_EQ(windows[0].begin, 0);
  EXPECT_LE(std::abs(windows[0].end - (3 * kSecond)), 2 * 512);
  EXPECT_LE(std::abs(windows[1].begin - (5 * kSecond - 3200)), 512);
  EXPECT_EQ(windows[1].end, 7 * kSecond);
}

TEST(LoudnessWindowsTest, WithoutALongPauseItIsAllOfIt) {
  const std::vector<float> samples = Sound({{0.3, 0}, {2, 0.5F}, {0.9, 0}, {2, 0.5F}, {0.5, 0}});
  EXPECT_THAT(ByLoudness(samples), ElementsAre(Window(0, static_cast<int64_t>(samples.size()))));
}

TEST(LoudnessWindowsTest, MuchQuieterIsAPauseToo) {
  EXPECT_THAT(ByLoudness(Sound({{2, 0.5F}, {3, 0.01F}, {2, 0.5F}, {3, 0.01F}})), SizeIs(2));
  EXPECT_THAT(ByLoudness(Sound({{2, 0.5F}, {3, 0.05F}, {2, 0.5F}})), SizeIs(1));
}

TEST(LoudnessWindowsTest, QuietSpeechAloneIsSpeech) {
  EXPECT_THAT(ByLoudness(Sound({{3, 0.002F}})), ElementsAre(Window(0, 3 * kSecond)));
}

TEST(LoudnessWindowsTest, SpeechWithoutAPauseIsCutAtThirtySeconds) {
  EXPECT_THAT(ByLoudness(Sound({{40, 0.5F}})),
              ElementsAre(Window(0, kWindowSamples, true), Window(29 * kSecond, 40 * kSecond)));
}

TEST(LoudnessWindowsTest, SilenceIsNothing) {
  EXPECT_THAT(ByLoudness(Sound({{100, 0}})), IsEmpty());
}

// "Speech" is where the samples are loud.
HearSpeech Hear() {
  return [](absl::Span<const float> samples) -> absl::StatusOr<std::vector<float>> {
    std::vector<float> probabilities;
    for (size_t at = 0; at < samples.size(); at += kSpeechBlockSamples) {
      const absl::Span<const float> block = samples.subspan(at, kSpeechBlockSamples);
      const bool loud =
          std::any_of(block.begin(), block.end(), [](float s) { return std::fabs(s) > 0.1F; });
      probabilities.push_back(loud ? 0.9F : 0.1F);
    }
    return probabilities;
  };
}

std::vector<WindowPlan> BySpeech(const std::vector<float>& samples, size_t chunk = 100'000) {
  return AllWindows(*PlanBySpeech(Hear(), 0.5F, 3 * kSecond), samples, chunk);
}

TEST(SpeechWindowsTest, OnlySpeechIsInWindows) {
  const std::vector<WindowPlan> windows =
      BySpeech(Sound({{10, 0.01F}, {4, 0.5F}, {8, 0.01F}, {4, 0.5F}, {10, 0.01F}}));
  ASSERT_THAT(windows, SizeIs(2));
  EXPECT_LE(std::abs(windows[0].begin - (10 * kSecond - 480)), 512);
  EXPECT_LE(std::abs(windows[0].end - (14 * kSecond + 480)), 512);
  EXPECT_LE(std::abs(windows[1].begin - (22 * kSecond - 480)), 512);
  EXPECT_LE(std::abs(windows[1].end - (26 * kSecond + 480)), 512);
}

TEST(SpeechWindowsTest, ShortPausesAreInside) {
  EXPECT_THAT(BySpeech(Sound({{4, 0.5F}, {2, 0}, {4, 0.5F}, {2, 0}, {4, 0.5F}})), SizeIs(1));
}

TEST(SpeechWindowsTest, LongSpeechGoesOn) {
  EXPECT_THAT(BySpeech(Sound({{40, 0.5F}})),
              ElementsAre(Window(0, kWindowSamples, true), Window(29 * kSecond, 40 * kSecond)));
}

TEST(SpeechWindowsTest, NoSpeechIsNoWindow) {
  EXPECT_THAT(BySpeech(Sound({{100, 0.01F}})), IsEmpty());
  EXPECT_THAT(BySpeech({}), IsEmpty());
}

// Neither planner may decide differently because audio comes in other portions.
TEST(WindowPlannerTest, ItDoesNotMatterHowAudioArrives) {
  const std::vector<float> samples = Sound({{1.5, 0},
                                            {2.1, 0.5F},
                                            {0.7, 0.001F},
                                            {0.2, 0.4F},
                                            {1.3, 0},
                                            {33, 0.3F},
                                            {0.9, 0.002F},
                                            {0.1, 0.2F},
                                            {3.2, 0},
                                            {0.3, 0.5F},
                                            {2.9, 0.001F},
                                            {1.1, 0.5F},
                                            {0.4, 0}});
  const std::vector<WindowPlan> by_loudness = ByLoudness(samples, samples.size());
  const std::vector<WindowPlan> by_speech = BySpeech(samples, samples.size());
  EXPECT_GE(by_loudness.size(), 3U);
  EXPECT_GE(by_speech.size(), 2U);
  for (const size_t chunk : {320U, 500U, 1000U, 4096U, 16'000U, 100'001U}) {
    EXPECT_EQ(ByLoudness(samples, chunk), by_loudness) << chunk;
    EXPECT_EQ(BySpeech(samples, chunk), by_speech) << chunk;
    EXPECT_EQ(Fixed(samples, chunk), Fixed(samples)) << chunk;
  }
}

TEST(WindowPlannerTest, AFailureOfTheModelIsPassedOn) {
  const std::unique_ptr<WindowPlanner> planner = PlanBySpeech(
      [](absl::Span<const float>) -> absl::StatusOr<std::vector<float>> {
        return absl::InternalError("deaf");
      },
      0.5F, kSecond);
  const std::vector<float> samples = Sound({{1, 0.5F}});
  const size_t arrived = samples.size();
  AudioBuffer audio(std::make_unique<Arriving>(&samples, &arrived));
  while (!audio.over()) audio.Read(4096);
  EXPECT_EQ(planner->Look(audio).status(), absl::InternalError("deaf"));
}

}  // namespace
}  // namespace superfluid
