#include "engine/whisper/window_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "engine/whisper/library_log.h"
#include "engine/whisper/library_state.h"
#include "tests/engine/whisper/audio_samples.h"
#include "tests/engine/whisper/library_reference.h"

namespace superfluid {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kTiny[] = "tools/models/tiny_whisper.bin";
constexpr char kUnsure[] = "tools/models/tiny_whisper_unsure.bin";

// The library's segments through a run, step by step, and the library alone.
class WindowRunTest : public testing::Test {
 protected:
  void Load(const char* model, bool flash_attn = false) {
    reference_ = std::make_unique<ReferenceContext>(model, flash_attn);
    ASSERT_NE(reference_->context, nullptr);
    log_ = std::make_unique<LibraryLog>(EngineLog());
    NewState();
  }

  void NewState() {
    absl::StatusOr<std::unique_ptr<LibraryState>> state = LibraryState::Create(reference_->context);
    ASSERT_TRUE(state.ok()) << state.status();
    state_ = *std::move(state);
  }

  WindowRun::Request Request(const ReferenceRequest& request) const {
    WindowRun::Request made;
    made.params = whisper_full_default_params(request.beam_size > 1 ? WHISPER_SAMPLING_BEAM_SEARCH
                                                                    : WHISPER_SAMPLING_GREEDY);
    made.params.n_threads = request.threads;
    made.params.translate = request.translate;
    made.params.token_timestamps = request.timestamps;
    made.params.greedy.best_of = request.best_of;
    made.params.beam_search.beam_size = request.beam_size;
    made.params.temperature = request.temperature;
    made.params.temperature_inc = request.temperature_inc;
    made.language = request.language;
    made.languages = 99;
    if (!request.prompt.empty()) {
      made.prompt.resize(1000);
      made.prompt.resize(static_cast<size_t>(
          whisper_tokenize(reference_->context, request.prompt.c_str(), made.prompt.data(), 1000)));
    }
    return made;
  }

  struct Ran {
    std::vector<RawSegment> segments;
    std::string language;
    int steps = 0;
    bool drew = false;
    int64_t heard = 0;
  };

  Ran Run(const ReferenceRequest& request, const std::vector<float>& samples) {
    WindowRun::Request made = Request(request);
    made.samples = samples;
    absl::StatusOr<std::unique_ptr<WindowRun>> run =
        WindowRun::Create(reference_->context, state_.get(), log_.get(), std::move(made));
    EXPECT_TRUE(run.ok()) << run.status();
    Ran ran;
    const CancelToken token;
    for (bool done = false; !done; ++ran.steps) {
      const absl::StatusOr<bool> step = (*run)->Step(token);
      EXPECT_TRUE(step.ok()) << step.status();
      done = !step.ok() || *step;
      for (RawSegment& segment : (*run)->TakeSegments()) {
        ran.segments.push_back(std::move(segment));
      }
    }
    ran.language = (*run)->language();
    ran.drew = (*run)->drew_random_numbers();
    ran.heard = (*run)->heard_samples();
    return ran;
  }

  // Everything equal to the bit, but the temperature, which the library does not tell.
  void ExpectLikeTheLibrary(const ReferenceRequest& request, const std::vector<float>& samples) {
    const ReferenceResult expected = WholeReference(reference_->context, request, samples);
    ASSERT_EQ(expected.error, 0);
    ASSERT_THAT(expected.segments, Not(IsEmpty()));
    NewState();
    Ran ran = Run(request, samples);
    for (RawSegment& segment : ran.segments) segment.temperature = 0;
    EXPECT_TRUE(ran.segments == expected.segments) << ReferenceText(ran.segments) << "\n"
                                                   << ReferenceText(expected.segments);
    EXPECT_EQ(ran.language, expected.language);
    EXPECT_EQ(ran.heard, static_cast<int64_t>(samples.size()));
  }

  std::unique_ptr<ReferenceContext> reference_;
  std::unique_ptr<LibraryLog> log_;
  std::unique_ptr<LibraryState> state_;
};

TEST_F(WindowRunTest, GreedyIsTheLibrarys) {
  Load(kTiny);
  for (const double seconds : {2.0, 7.7}) {
    SCOPED_TRACE(seconds);
    ExpectLikeTheLibrary({}, Babble(seconds, static_cast<uint32_t>(seconds * 10)));
  }
}

TEST_F(WindowRunTest, AWholeWindowIsTheLibrarys) {
  Load(kTiny);
  ExpectLikeTheLibrary({.temperature_inc = 0}, Babble(30, 30));
}

TEST_F(WindowRunTest, OtherRequestsAreTheLibrarys) {
  Load(kTiny);
  const std::vector<float> samples = Babble(6, 3);
  ExpectLikeTheLibrary({.language = "de"}, samples);
  ExpectLikeTheLibrary({.language = "ja", .translate = true}, samples);
  ExpectLikeTheLibrary({.timestamps = false}, samples);
  ExpectLikeTheLibrary({.prompt = " The quick brown fox."}, samples);
  ExpectLikeTheLibrary({.threads = 2}, samples);
}

TEST_F(WindowRunTest, DetectionIsTheLibrarys) {
  Load(kTiny);
  for (const uint32_t seed : {1U, 2U, 3U}) ExpectLikeTheLibrary({.language = ""}, Babble(4, seed));
}

TEST_F(WindowRunTest, BeamSearchIsTheLibrarys) {
  Load(kTiny);
  ExpectLikeTheLibrary({.beam_size = 5}, Babble(5, 4));
  ExpectLikeTheLibrary({.beam_size = 2, .best_of = 1}, Babble(3, 5));
}

TEST_F(WindowRunTest, HigherTemperaturesAreTheLibrarys) {
  Load(kUnsure);
  const std::vector<float> samples = Babble(5, 6);
  ExpectLikeTheLibrary({}, samples);
  ExpectLikeTheLibrary({.best_of = 1, .temperature = 0.4F}, samples);
  ExpectLikeTheLibrary({.best_of = 2, .temperature = 1}, samples);
  ExpectLikeTheLibrary({.temperature_inc = 0}, samples);
}

TEST_F(WindowRunTest, FlashAttentionIsTheLibrarys) {
  Load(kTiny, /*flash_attn=*/true);
  ExpectLikeTheLibrary({}, Babble(5, 7));
}

TEST_F(WindowRunTest, TellsTheTemperatureAndWhetherItWasRandom) {
  Load(kTiny);
  const Ran sure = Run({.temperature_inc = 0}, Babble(3));
  EXPECT_FALSE(sure.drew);
  for (const RawSegment& segment : sure.segments) EXPECT_EQ(segment.temperature, 0);
  EXPECT_TRUE(Run({.beam_size = 2}, Babble(3)).drew);
  Load(kUnsure);
  const Ran unsure = Run({}, Babble(5, 6));
  EXPECT_TRUE(unsure.drew);
  ASSERT_THAT(unsure.segments, Not(IsEmpty()));
  EXPECT_GT(unsure.segments.back().temperature, 0.1F);
  EXPECT_LT(unsure.segments.back().temperature, 1.01F);
}

TEST_F(WindowRunTest, TakesAStepForEachEncodeAndDecode) {
  Load(kTiny);
  const Ran ran = Run({.temperature_inc = 0}, Babble(4, 8));
  int tokens = 0;
  for (const RawSegment& segment : ran.segments) tokens += static_cast<int>(segment.tokens.size());
  EXPECT_GT(ran.steps, tokens) << "a decode for each token, an encode and a spectrogram";
}

TEST_F(WindowRunTest, AStateThatDrewNothingIsAsNew) {
  Load(kTiny);
  const std::vector<float> samples = Babble(4, 9);
  const ReferenceRequest greedy = {.temperature_inc = 0};
  const Ran first = Run(greedy, samples);
  EXPECT_FALSE(
      Run({.language = "fr", .prompt = " Bonjour.", .temperature_inc = 0}, Babble(2, 10)).drew);
  WindowRun::Request shorter = Request(greedy);
  shorter.samples = samples;
  shorter.params.audio_ctx = 256;
  shorter.params.single_segment = true;
  absl::StatusOr<std::unique_ptr<WindowRun>> run =
      WindowRun::Create(reference_->context, state_.get(), log_.get(), std::move(shorter));
  const CancelToken token;
  while (!*(*run)->Step(token)) {
  }
  EXPECT_FALSE((*run)->drew_random_numbers());
  run->reset();
  EXPECT_EQ(Run({.language = "", .temperature_inc = 0}, samples).language,
            WholeReference(reference_->context, {.language = ""}, samples).language)
      << "detection uses the whole context again";
  EXPECT_TRUE(Run(greedy, samples).segments == first.segments);
}

TEST_F(WindowRunTest, DigitalSilenceAtTheEndIsNotDecoded) {
  Load(kTiny);
  const Ran spoken = Run({}, Babble(3, 11));
  const Ran silent = Run({}, Join(Babble(3, 11), Quiet(25)));
  EXPECT_EQ(silent.heard, 28 * 16'000);
  for (const RawSegment& segment : silent.segments) EXPECT_LT(segment.start, 3000);
  EXPECT_LE(silent.steps, 400);
  EXPECT_THAT(spoken.segments, Not(IsEmpty()));
}

TEST_F(WindowRunTest, AnAbandonedRunLeavesTheStateUsable) {
  Load(kTiny);
  const std::vector<float> samples = Babble(3, 12);
  const Ran whole = Run({}, samples);
  for (const int steps : {0, 1, 2, 3, 5, 9}) {
    WindowRun::Request request = Request({});
    const std::vector<float> other = Babble(3, 13);
    request.samples = other;
    absl::StatusOr<std::unique_ptr<WindowRun>> run =
        WindowRun::Create(reference_->context, state_.get(), log_.get(), std::move(request));
    const CancelToken token;
    for (int i = 0; i < steps; ++i) EXPECT_TRUE((*run)->Step(token).ok());
    run->reset();
    EXPECT_TRUE(Run({}, samples).segments == whole.segments) << steps;
  }
}

}  // namespace
}  // namespace superfluid
