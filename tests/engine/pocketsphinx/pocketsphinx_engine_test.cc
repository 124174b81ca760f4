#include "engine/pocketsphinx/pocketsphinx_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "tests/engine/pocketsphinx/engine_fixture.h"
#include "tests/engine/pocketsphinx/transcribe.h"

namespace superfluid {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;
using PocketsphinxEngineTest = PocketsphinxFixture;

// What it hears.

TEST_F(PocketsphinxEngineTest, WordErrorRateOfTheLibrivoxRecordings) {
  int errors = 0;
  size_t words = 0;
  int64_t audio_ms = 0;
  std::vector<double> step_ms;
  for (const auto& [reference, transcript] : Librivox()) {
    ASSERT_TRUE(transcript.status.ok()) << transcript.status;
    errors += EditDistance(reference.words, Words(transcript.text()));
    words += reference.words.size();
    audio_ms += transcript.progress.audio_ms;
    step_ms.insert(step_ms.end(), transcript.step_ms.begin(), transcript.step_ms.end());
    std::cout << transcript.text() << "\n";
  }
  ASSERT_EQ(words, 71u);
  const double rate = static_cast<double>(errors) / static_cast<double>(words);
  const double cpu_ms = std::accumulate(step_ms.begin(), step_ms.end(), 0.0);
  std::cout << "word error rate " << rate << ", real-time factor "
            << cpu_ms / static_cast<double>(audio_ms)
            << ", processor time of a step: " << Distribution(step_ms) << " ms\n";
  EXPECT_LE(rate, 0.40);
}

TEST_F(PocketsphinxEngineTest, WordTimesIncreaseAndLieInsideTheAudio) {
  for (const auto& [reference, transcript] : Librivox()) {
    int64_t previous = 0;
    for (const TranscribedSegment& segment : transcript.segments) {
      std::string text;
      ASSERT_FALSE(segment.words.empty());
      EXPECT_EQ(segment.start_ms, segment.words.front().start_ms);
      EXPECT_EQ(segment.end_ms, segment.words.back().end_ms);
      for (const TranscribedWord& word : segment.words) {
        EXPECT_GE(word.start_ms, previous);
        EXPECT_GT(word.end_ms, word.start_ms);
        EXPECT_GE(word.probability, 0.0F);
        EXPECT_LE(word.probability, 1.0F);
        previous = word.end_ms;
        text += (text.empty() ? "" : " ") + word.text;
      }
      EXPECT_EQ(segment.text, text);
      EXPECT_LE(segment.avg_logprob, 0.0F);
    }
    EXPECT_LE(previous, transcript.progress.audio_ms);
  }
}

TEST_F(PocketsphinxEngineTest, WordsAreWhereTheyWereSpoken) {
  // The same recording two and a half seconds later.
  const std::vector<float> samples = RecordingSamples(kOther);
  const Transcript plain = Transcribe(engine(), Samples(Joined(Silence(0.5), samples)));
  const Transcript late = Transcribe(engine(), Samples(Joined(Silence(3), samples)));
  ASSERT_FALSE(plain.segments.empty());
  ASSERT_FALSE(late.segments.empty());
  EXPECT_NEAR(static_cast<double>(late.segments.back().words.back().start_ms -
                                  plain.segments.back().words.back().start_ms),
              2500, 60);
}

TEST_F(PocketsphinxEngineTest, ProbabilitiesTellRightFromWrong) {
  const Transcript transcript = Transcribe(engine(), Recording(kOther));
  ASSERT_THAT(transcript.segments, SizeIs(1));
  double sum = 0;
  for (const TranscribedWord& word : transcript.segments[0].words) sum += word.probability;
  EXPECT_GT(sum / static_cast<double>(transcript.segments[0].words.size()), 0.5);
  EXPECT_LT(transcript.segments[0].avg_logprob, 0.0F) << "not simply certain of everything";
}

TEST_F(PocketsphinxEngineTest, PausesCutSegments) {
  const std::vector<float> pause = Silence(1.0);
  const Transcript transcript =
      Transcribe(engine(), Samples(Joined(Joined(RecordingSamples(kShort), pause),
                                          Joined(RecordingSamples(kOther), pause))));
  EXPECT_THAT(transcript.segments, SizeIs(2));
}

TEST_F(PocketsphinxEngineTest, SilenceIsAnEmptyText) {
  ASSERT_NE(Result(kShort), "");
  const Transcript transcript = Transcribe(engine(), Samples(Silence(5)));
  EXPECT_TRUE(transcript.status.ok());
  EXPECT_THAT(transcript.segments, SizeIs(0));
  EXPECT_EQ(transcript.progress.audio_ms, 5000);
}

TEST_F(PocketsphinxEngineTest, NoiseAndTinyRecordingsEndWell) {
  EXPECT_TRUE(Transcribe(engine(), Samples(Noise(8))).status.ok());
  for (const size_t samples : {1u, 159u, 160u, 161u, 409u, 410u, 1000u, 4000u}) {
    const std::vector<float> loud = Noise(1);
    const Transcript transcript = Transcribe(
        engine(), Samples({loud.begin(), loud.begin() + static_cast<std::ptrdiff_t>(samples)}));
    EXPECT_TRUE(transcript.status.ok()) << samples << ": " << transcript.status;
  }
}

TEST_F(PocketsphinxEngineTest, WordTimesCanBeLeftOut) {
  const Transcript transcript = Transcribe(engine(), Recording(kShort), {.timestamps = false});
  ASSERT_FALSE(transcript.segments.empty());
  EXPECT_TRUE(transcript.segments[0].words.empty());
  EXPECT_GT(transcript.segments[0].end_ms, transcript.segments[0].start_ms);
}

TEST_F(PocketsphinxEngineTest, PartialSegmentsComeBeforeTheFinalOne) {
  const Transcript transcript = Transcribe(engine(), Recording(kLong), {.partial_results = true});
  EXPECT_GE(transcript.partials.size(), 3u);
  EXPECT_LT(transcript.partials.front().text.size(), transcript.text().size());
  EXPECT_EQ(Describe(transcript.segments), FreshResult(kLong)) << "asking for them changes nothing";
  EXPECT_THAT(Transcribe(engine(), Recording(kCard)).partials, SizeIs(0));
}

// Limits, parameters, and what it says of itself.

TEST_F(PocketsphinxEngineTest, RefusesMoreJobsThanThePool) {
  std::unique_ptr<TranscriptionJob> a = Start(Samples(Silence(1)));
  std::unique_ptr<TranscriptionJob> b = Start(Samples(Silence(1)));
  EXPECT_EQ(StartStatus({}).code(), absl::StatusCode::kResourceExhausted);
  a.reset();
  EXPECT_TRUE(StartStatus({}).ok());
}

TEST_F(PocketsphinxEngineTest, AcceptsEnglishOnly) {
  for (const char* language : {"", "en", "en-US", "EN", "en-GB", "en_US"}) {
    EXPECT_TRUE(StartStatus({.language = language}).ok()) << language;
  }
  EXPECT_EQ(StartStatus({.language = "de"}).code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(StartStatus({.language = "fr-FR"}).message()),
              HasSubstr("the language fr-FR is not supported"));
  for (const char* language : {"\xff\xfe", "en us", "e\nn", "-"}) {
    EXPECT_EQ(StartStatus({.language = language}).code(), absl::StatusCode::kInvalidArgument);
  }
}

TEST_F(PocketsphinxEngineTest, TranslatingEnglishIntoEnglishIsNoWork) {
  EXPECT_TRUE(StartStatus({.translate = true}).ok());
}

TEST_F(PocketsphinxEngineTest, RefusesAPrompt) {
  const absl::Status status = StartStatus({.prompt = "about playing cards"});
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(status.message()), HasSubstr("takes no prompt"));
}

TEST_F(PocketsphinxEngineTest, RefusesNoAudio) {
  EXPECT_EQ(engine().StartTranscription({}, nullptr).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(PocketsphinxEngineTest, ReportsProgress) {
  std::unique_ptr<TranscriptionJob> job = Start(Recording(kShort));
  EXPECT_EQ(job->Progress().language, "en");
  EXPECT_EQ(job->Progress().audio_ms, 0);
  EXPECT_NEAR(static_cast<double>(job->Progress().audio_total_ms), 2990, 5);
  const Transcript transcript = Finish(*job);
  EXPECT_EQ(transcript.progress.audio_ms, transcript.progress.audio_total_ms);
  EXPECT_NEAR(static_cast<double>(transcript.progress.audio_ms), 2990, 5);
}

TEST_F(PocketsphinxEngineTest, DescribesItself) {
  EXPECT_EQ(engine().info().name, "pocketsphinx");
  EXPECT_EQ(engine().info().max_transcriptions, 2);
  EXPECT_EQ(engine().info().max_lanes, 0);
  const nlohmann::json json = nlohmann::json::parse(engine().CapabilitiesJson());
  EXPECT_EQ(json["engine"], "pocketsphinx");
  EXPECT_EQ(json["model"], "en-us");
  EXPECT_EQ(json["calls"], nlohmann::json::array({"transcribe"}));
  const nlohmann::json& transcribe = json["transcribe"];
  EXPECT_EQ(transcribe["languages"], nlohmann::json::array({"en"}));
  EXPECT_EQ(transcribe["translate"], true);
  EXPECT_EQ(transcribe["translate_from"], nlohmann::json::array({"en"})) << "which is no work";
  EXPECT_EQ(transcribe["prompt"], false);
}

TEST_F(PocketsphinxEngineTest, CountsItsMemory) {
  std::unique_ptr<TranscriptionJob> job = Start(Samples(Silence(1)));
  const MemoryCounters memory = engine().Memory();
  std::cout << "memory: " << memory.allocated_bytes / 1000000 << " MB in decoders\n";
  EXPECT_GT(memory.allocated_bytes, 30'000'000u);
  EXPECT_LT(memory.allocated_bytes, 600'000'000u);
  EXPECT_EQ(memory.pool_blocks_total, 2u);
  EXPECT_EQ(memory.pool_blocks_used, 1u);
}

// Making one.

TEST(MakePocketsphinxEngineTest, LongSpeechIsCutWithoutAPause) {
  absl::StatusOr<std::unique_ptr<Engine>> engine =
      MakePocketsphinxEngine({.options = {{"max_segment_ms", "3000"}}});
  ASSERT_TRUE(engine.ok()) << engine.status();
  const Transcript transcript = Transcribe(**engine, Recording(kLong));
  EXPECT_GE(transcript.segments.size(), 3u);
  for (const TranscribedSegment& segment : transcript.segments) {
    EXPECT_LE(segment.end_ms - segment.start_ms, 3000);
  }
}

TEST(MakePocketsphinxEngineTest, RefusesUnknownOptions) {
  const absl::Status status = MakePocketsphinxEngine({.options = {{"colour", "red"}}}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("it has pool, warm, pause_ms"));
}

TEST(MakePocketsphinxEngineTest, AModelOfAnotherLanguageDoesNotTranslate) {
  absl::StatusOr<std::unique_ptr<Engine>> engine =
      MakePocketsphinxEngine({.options = {{"language", "de-DE"}}});
  ASSERT_TRUE(engine.ok()) << engine.status();
  const nlohmann::json json = nlohmann::json::parse((*engine)->CapabilitiesJson());
  EXPECT_EQ(json["transcribe"]["translate"], false);
  EXPECT_EQ(json["transcribe"]["translate_from"], nlohmann::json::array());
  EXPECT_EQ((*engine)->StartTranscription({.translate = true}, Samples(Silence(1))).status().code(),
            absl::StatusCode::kUnimplemented);
}

TEST(MakePocketsphinxEngineTest, RefusesAMissingModel) {
  const absl::Status status = MakePocketsphinxEngine({.model_path = "/nowhere"}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("there is no model folder /nowhere"));
}

TEST(MakePocketsphinxEngineTest, TakesAModelFolder) {
  EXPECT_TRUE(MakePocketsphinxEngine({.model_path = "/usr/share/pocketsphinx/model/en-us/"}).ok());
}

}  // namespace
}  // namespace superfluid
