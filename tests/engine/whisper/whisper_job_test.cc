#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/engine/whisper/audio_samples.h"
#include "tests/engine/whisper/engine_fixture.h"
#include "tests/engine/whisper/library_reference.h"

namespace superfluid {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;

class WhisperJobTest : public WhisperFixture {
 protected:
  ReferenceResult Whole(const ReferenceRequest& request, const std::vector<float>& samples,
                        const char* model = kTinyModel) {
    const ReferenceContext reference(model);
    return WholeReference(reference.context, request, samples);
  }

  ReferenceResult Windowed(const ReferenceRequest& request, const std::vector<float>& samples) {
    const ReferenceContext reference(kTinyModel);
    return WindowedReference(reference.context, request, samples);
  }
};

// The library's results.

TEST_F(WhisperJobTest, AShortRecordingIsWhatTheLibraryMakesOfIt) {
  const std::vector<float> samples = Babble(7.3, 1);
  const ReferenceResult expected = Whole({}, samples);
  ASSERT_THAT(expected.segments, Not(IsEmpty()));
  Make(WhisperConfig());
  const Transcript heard = Hear(samples);
  ASSERT_TRUE(heard.status.ok()) << heard.status;
  ExpectSegments(heard.segments, expected.segments, 7300);
  EXPECT_EQ(heard.progress.language, "en");
  EXPECT_EQ(heard.progress.audio_ms, 7300);
  EXPECT_EQ(heard.progress.audio_total_ms, 7300);
}

TEST_F(WhisperJobTest, RequestsAndOptionsReachTheLibrary) {
  const std::vector<float> samples = Babble(4, 2);
  TranscriptionParams params;
  params.language = "de-DE";
  params.translate = true;
  params.prompt = " Guten Tag.";
  Make(WhisperConfig({{"beam_size", "3"}, {"temperature_inc", "0"}}));
  const Transcript heard = Hear(samples, params);
  const ReferenceResult expected = Whole({.language = "de",
                                          .translate = true,
                                          .prompt = " Guten Tag.",
                                          .beam_size = 3,
                                          .temperature_inc = 0},
                                         samples);
  ASSERT_THAT(expected.segments, Not(IsEmpty()));
  ExpectSegments(heard.segments, expected.segments, 4000);
  EXPECT_EQ(heard.progress.language, "de");
}

TEST_F(WhisperJobTest, TheLanguageIsDetected) {
  const std::vector<float> samples = Babble(4, 3);
  const ReferenceResult expected = Whole({.language = "", .temperature_inc = 0}, samples);
  Make();
  const Transcript heard = Hear(samples, {});
  ExpectSegments(heard.segments, expected.segments, 4000);
  EXPECT_EQ(heard.progress.language, expected.language);
}

TEST_F(WhisperJobTest, AWindowWithoutTextDecidesNoLanguage) {
  // Every decode counts as poor, and every window as one without speech.
  Make(WhisperConfig({{"logprob_thold", "0"}, {"no_speech_thold", "0"}}));
  const Transcript heard = Hear(Babble(4, 3), {});
  ASSERT_TRUE(heard.status.ok()) << heard.status;
  ASSERT_THAT(heard.segments, IsEmpty());
  EXPECT_EQ(heard.progress.language, "und");
}

TEST_F(WhisperJobTest, ALongRecordingIsWindowsOfTheLibrarys) {
  const std::vector<float> samples = Babble(68, 4);
  const ReferenceResult expected = Windowed({}, samples);
  ASSERT_GE(expected.windows, 3);
  ASSERT_THAT(expected.segments, Not(IsEmpty()));
  Make(WhisperConfig());
  const Transcript heard = Hear(samples);
  ASSERT_TRUE(heard.status.ok()) << heard.status;
  ExpectSegments(heard.segments, expected.segments, 68'000);
  EXPECT_GT(heard.segments.back().end_ms, 35'000);
}

TEST_F(WhisperJobTest, WordsAreTheTextAndLieInTheirSegments) {
  Make();
  const Transcript heard = Hear(Babble(12, 5));
  ASSERT_THAT(heard.segments, Not(IsEmpty()));
  int64_t previous = 0;
  for (const TranscribedSegment& segment : heard.segments) {
    EXPECT_GE(segment.start_ms, previous);
    EXPECT_GE(segment.end_ms, segment.start_ms);
    previous = segment.end_ms;
    int64_t earliest = segment.start_ms;
    std::string joined;
    for (const TranscribedWord& word : segment.words) {
      EXPECT_GE(word.start_ms, earliest);
      EXPECT_GE(word.end_ms, word.start_ms);
      EXPECT_LE(word.end_ms, segment.end_ms);
      EXPECT_GE(word.probability, 0);
      EXPECT_LE(word.probability, 1);
      earliest = word.end_ms;
      joined += (joined.empty() ? "" : " ") + word.text;
    }
    EXPECT_EQ(joined, segment.text);
    EXPECT_LE(segment.avg_logprob, 0);
    EXPECT_GT(segment.compression_ratio, 0);
  }
}

TEST_F(WhisperJobTest, NoWordsUnlessAsked) {
  Make();
  TranscriptionParams params = English();
  params.timestamps = false;
  for (const TranscribedSegment& segment : Hear(Babble(4), params).segments) {
    EXPECT_THAT(segment.words, IsEmpty());
  }
}

// What came before does not matter.

TEST_F(WhisperJobTest, ResultsDoNotDependOnWhatCameBefore) {
  const std::vector<float> samples = Babble(3, 6);
  for (const char* model : {kTinyModel, kUnsureModel}) {
    Make(WhisperConfig({}, model));
    const std::string first = DescribeAll(Hear(samples).segments);
    Hear(Babble(2, 7));
    EXPECT_EQ(DescribeAll(Hear(samples).segments), first) << model;
  }
}

TEST_F(WhisperJobTest, InterleavedJobsAreAsIfAlone) {
  Make(WhisperConfig({}, kUnsureModel));  // with temperatures, hence random numbers
  std::vector<std::string> alone;
  std::vector<std::unique_ptr<TranscriptionJob>> jobs;
  std::vector<KeepSegments> sinks(3);
  for (uint32_t i = 0; i < 3; ++i) alone.push_back(DescribeAll(Hear(Babble(1.5 + i, i)).segments));
  for (uint32_t i = 0; i < 3; ++i) jobs.push_back(Start(Samples(Babble(1.5 + i, i))));
  const CancelToken token;
  for (size_t running = 3; running > 0;) {
    for (size_t i = 0; i < 3; ++i) {
      if (jobs[i] == nullptr) continue;
      const absl::StatusOr<StepOutcome> outcome = jobs[i]->Step({}, token, sinks[i]);
      ASSERT_TRUE(outcome.ok()) << outcome.status();
      if (*outcome != StepOutcome::kDone) continue;
      jobs[i].reset();
      --running;
    }
  }
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(DescribeAll(sinks[i].finals), alone[i]) << i;
}

TEST_F(WhisperJobTest, AShortClipPassesALongFile) {
  Make();
  const std::unique_ptr<TranscriptionJob> file = Start(Samples(Babble(90, 8)));
  KeepSegments of_file;
  const CancelToken token;
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(file->Step({}, token, of_file).ok());
  const Transcript clip = Hear(Babble(1, 9));
  EXPECT_TRUE(clip.status.ok());
  EXPECT_LT(file->Progress().audio_ms, 90'000) << "the file is not read as a whole";
}

TEST_F(WhisperJobTest, TheBudgetChangesNothing) {
  Make();
  const std::vector<float> samples = Babble(5, 10);
  const std::string usual = DescribeAll(Hear(samples).segments);
  for (const absl::Duration target : {absl::ZeroDuration(), absl::Seconds(10)}) {
    const Transcript heard = Transcribe(*engine_, Samples(samples), English(), {target});
    EXPECT_EQ(DescribeAll(heard.segments), usual) << target;
  }
}

// Silence.

TEST_F(WhisperJobTest, SilenceHasNoText) {
  Make();
  for (const double seconds : {0.0, 0.05, 1.0, 31.0, 95.0}) {
    const Transcript heard = Hear(Quiet(seconds));
    EXPECT_TRUE(heard.status.ok());
    EXPECT_THAT(heard.segments, IsEmpty()) << seconds;
    EXPECT_EQ(heard.progress.audio_ms, static_cast<int64_t>(seconds * 1000));
  }
  EXPECT_EQ(Hear(Quiet(1), {}).progress.language, "und");
}

TEST_F(WhisperJobTest, SilenceAfterSpeechHasNoText) {
  Make();
  const std::vector<float> samples = Join(Babble(4, 11), Quiet(60));
  const Transcript heard = Hear(samples);
  EXPECT_THAT(heard.segments, Not(IsEmpty()));
  for (const TranscribedSegment& segment : heard.segments) EXPECT_LT(segment.start_ms, 30'000);
  EXPECT_EQ(heard.progress.audio_ms, 64'000);
}

TEST_F(WhisperJobTest, TinyRecordingsEndWell) {
  Make();
  const std::vector<float> loud = Babble(1);
  for (const size_t size : {1U, 159U, 160U, 161U, 399U, 400U, 1600U, 1601U, 3000U, 8000U}) {
    const Transcript heard = Hear({loud.begin(), loud.begin() + static_cast<std::ptrdiff_t>(size)});
    EXPECT_TRUE(heard.status.ok()) << size << ": " << heard.status;
  }
}

TEST_F(WhisperJobTest, AnAudioErrorComesAfterWhatWasHeard) {
  Make();
  const std::vector<float> samples = Babble(4, 12);
  const Transcript heard =
      Transcribe(*engine_, Samples(samples, absl::InvalidArgumentError("torn")), English());
  EXPECT_EQ(heard.status, absl::InvalidArgumentError("torn"));
  EXPECT_EQ(DescribeAll(heard.segments), DescribeAll(Hear(samples).segments));
}

}  // namespace
}  // namespace superfluid
