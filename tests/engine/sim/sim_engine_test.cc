#include "engine/sim/sim_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "engine/cancel_token.h"
#include "tests/engine/abi/engine_test_util.h"

namespace superfluid {
namespace {

using testing::ConfigWith;
using testing::Describe;
using ::testing::ElementsAre;
using testing::FakeAudio;
using ::testing::IsEmpty;
using testing::Noise;
using testing::RecordingSink;
using testing::RunResult;
using ::testing::SizeIs;
using testing::Transcribe;

// Time that goes by at once, and is added up.
class VirtualClock : public SimClock {
 public:
  void Spend(absl::Duration work) override { spent += work; }
  void Hang(absl::Duration limit) override { hung += limit; }
  absl::Duration spent;
  absl::Duration hung;
};

class SimEngineTest : public ::testing::Test {
 protected:
  void Make(std::vector<std::pair<std::string, std::string>> options) {
    auto engine = MakeSimEngine(ConfigWith(std::move(options)), clock_);
    ASSERT_TRUE(engine.ok()) << engine.status();
    engine_ = *std::move(engine);
  }
  void SetUp() override { Make({}); }

  RunResult RunOver(std::vector<float> samples, const TranscriptionParams& params = {}) {
    return Transcribe(*engine_, std::make_unique<FakeAudio>(std::move(samples)), params);
  }
  RunResult RunWithPrompt(const std::string& prompt) {
    TranscriptionParams params;
    params.prompt = prompt;
    return RunOver(Noise(2500, 1), params);
  }
  std::unique_ptr<TranscriptionJob> Start(int64_t ms, const std::string& prompt = "") {
    TranscriptionParams params;
    params.prompt = prompt;
    auto job =
        engine_->StartTranscription(params, std::make_unique<FakeAudio>(Noise(ms, 1), 16000));
    EXPECT_TRUE(job.ok()) << job.status();
    return job.ok() ? *std::move(job) : nullptr;
  }

  std::shared_ptr<VirtualClock> clock_ = std::make_shared<VirtualClock>();
  std::unique_ptr<Engine> engine_;
};

TEST_F(SimEngineTest, CutsAudioIntoSegments) {
  const RunResult run = RunOver(Noise(2500, 1));
  ASSERT_TRUE(run.status.ok()) << run.status;
  ASSERT_THAT(run.segments, SizeIs(3));
  EXPECT_EQ(run.segments[0].start_ms, 0);
  EXPECT_EQ(run.segments[0].end_ms, 1000);
  EXPECT_EQ(run.segments[2].start_ms, 2000);
  EXPECT_EQ(run.segments[2].end_ms, 2500);
  EXPECT_THAT(run.segments[0].words, SizeIs(3));
  EXPECT_EQ(run.steps, 25);
  EXPECT_EQ(run.progress.audio_ms, 2500);
  EXPECT_EQ(run.progress.audio_total_ms, 2500);
  EXPECT_EQ(run.progress.language, "en");
}

// The words must stay what they are: other tests and benchmarks compare against them.
TEST_F(SimEngineTest, WordsOfKnownAudioAreKnown) {
  const RunResult run = RunOver(std::vector<float>(16000, 0.5F));
  ASSERT_THAT(run.segments, SizeIs(1));
  EXPECT_EQ(run.segments[0].text, "gireja konaho lamara");
}

TEST_F(SimEngineTest, SameAudioSameSegmentsHoweverItIsCut) {
  const auto whole = Describe(RunOver(Noise(3210, 7)).segments);
  ASSERT_THAT(whole, SizeIs(4));
  for (const size_t block : {size_t{1}, size_t{7}, size_t{1600}, size_t{100'000}}) {
    for (const bool live : {false, true}) {
      const RunResult run =
          Transcribe(*engine_, std::make_unique<FakeAudio>(Noise(3210, 7), block, live));
      ASSERT_TRUE(run.status.ok());
      EXPECT_EQ(Describe(run.segments), whole) << block << (live ? " live" : "");
    }
  }
}

TEST_F(SimEngineTest, OtherAudioOtherWords) {
  const RunResult one = RunOver(Noise(1000, 1));
  const RunResult two = RunOver(Noise(1000, 2));
  ASSERT_THAT(one.segments, SizeIs(1));
  ASSERT_THAT(two.segments, SizeIs(1));
  EXPECT_NE(one.segments[0].text, two.segments[0].text);
}

TEST_F(SimEngineTest, WordsLieInOrderInsideTheirSegment) {
  Make({{"words", "7"}});
  for (const TranscribedSegment& segment : RunOver(Noise(2345, 3)).segments) {
    int64_t floor_ms = segment.start_ms;
    EXPECT_THAT(segment.words, SizeIs(7));
    for (const TranscribedWord& word : segment.words) {
      EXPECT_EQ(word.start_ms, floor_ms);
      EXPECT_GT(word.end_ms, word.start_ms);
      EXPECT_GE(word.probability, 0);
      EXPECT_LE(word.probability, 1);
      floor_ms = word.end_ms;
    }
    EXPECT_EQ(floor_ms, segment.end_ms);
  }
}

TEST_F(SimEngineTest, NoWordTimesUnlessWanted) {
  TranscriptionParams params;
  params.timestamps = false;
  const RunResult run = RunOver(Noise(1000, 1), params);
  ASSERT_THAT(run.segments, SizeIs(1));
  EXPECT_THAT(run.segments[0].words, IsEmpty());
}

TEST_F(SimEngineTest, SilenceHasNoText) {
  const RunResult run = RunOver(std::vector<float>(48'000, 0.0F));
  EXPECT_TRUE(run.status.ok());
  EXPECT_THAT(run.segments, IsEmpty());
  EXPECT_EQ(run.progress.audio_ms, 3000);
}

TEST_F(SimEngineTest, EmptyAudioEndsInOneStep) {
  const RunResult run = RunOver({});
  EXPECT_TRUE(run.status.ok());
  EXPECT_EQ(run.steps, 1);
  EXPECT_THAT(run.segments, IsEmpty());
}

TEST_F(SimEngineTest, LiveAudioIsWaitedFor) {
  const RunResult run =
      Transcribe(*engine_, std::make_unique<FakeAudio>(Noise(1000, 1), 1600, /*live=*/true));
  EXPECT_TRUE(run.status.ok());
  EXPECT_EQ(run.starved, 10);
  EXPECT_EQ(run.steps, 20);
  EXPECT_EQ(run.progress.audio_total_ms, 0);
}

TEST_F(SimEngineTest, PartialsOnlyIfWanted) {
  TranscriptionParams params;
  params.partial_results = true;
  const RunResult run = RunOver(Noise(1000, 1), params);
  ASSERT_THAT(run.segments, SizeIs(10));
  EXPECT_TRUE(run.segments[8].is_partial);
  EXPECT_EQ(run.segments[8].end_ms, 900);
  EXPECT_FALSE(run.segments[9].is_partial);
  Make({{"partials", "0"}});
  EXPECT_THAT(RunOver(Noise(1000, 1), params).segments, SizeIs(1));
}

TEST_F(SimEngineTest, GivesAsManySegmentsAsAskedFor) {
  Make({{"segments", "4"}, {"steps_per_segment", "5"}});
  const RunResult run = RunOver(Noise(1500, 1));
  EXPECT_TRUE(run.status.ok());
  EXPECT_EQ(run.steps, 20);
  ASSERT_THAT(run.segments, SizeIs(4));
  EXPECT_EQ(run.segments[1].end_ms, 1500);
  EXPECT_EQ(run.segments[3].start_ms, 1500);
  EXPECT_EQ(run.segments[3].end_ms, 1500);
  EXPECT_THAT(RunOver(Noise(9000, 1)).segments, SizeIs(4));
}

TEST_F(SimEngineTest, FollowsAScript) {
  Make({{"script", "hello  world|again"}});
  std::vector<std::string> texts;
  for (const TranscribedSegment& segment : RunOver(Noise(3000, 1)).segments) {
    texts.push_back(segment.text);
  }
  EXPECT_THAT(texts, ElementsAre("hello world", "again", "hello world"));
}

TEST_F(SimEngineTest, SpendsTheTimeOfItsSteps) {
  Make({{"step_us", "1500"}, {"slow_at_step", "2"}, {"slow_us", "1000000"}});
  EXPECT_TRUE(RunOver(Noise(1000, 1)).status.ok());
  EXPECT_EQ(clock_->spent, absl::Milliseconds(15) + absl::Seconds(1));
  EXPECT_EQ(engine_->info().micro_step, absl::Microseconds(1500));
}

TEST_F(SimEngineTest, HangsForABoundedTime) {
  EXPECT_TRUE(RunWithPrompt("sim:stuck_at_step=2 sim:stuck_ms=700").status.ok());
  EXPECT_EQ(clock_->hung, absl::Milliseconds(700));
}

TEST_F(SimEngineTest, CancelStopsAtTheNextStep) {
  const auto job = Start(5000);
  CancelToken token;
  RecordingSink sink;
  for (int i = 0; i < 12; ++i) ASSERT_TRUE(job->Step({}, token, sink).ok());
  token.Cancel(CancelReason::kRequested, 1);
  EXPECT_EQ(job->Step({}, token, sink).status().code(), absl::StatusCode::kCancelled);
  EXPECT_THAT(sink.segments, SizeIs(1));
}

TEST_F(SimEngineTest, CancelDuringAStepIsSeenBeforeItsSegment) {
  // The clock stands in for the peer that cancels while the step runs.
  class CancellingClock : public SimClock {
   public:
    void Spend(absl::Duration) override { token.Cancel(CancelReason::kDeadline, 1); }
    void Hang(absl::Duration) override {}
    CancelToken token;
  };
  const auto clock = std::make_shared<CancellingClock>();
  auto engine = MakeSimEngine(ConfigWith({{"steps_per_segment", "1"}}), clock);
  ASSERT_TRUE(engine.ok());
  auto job = (*engine)->StartTranscription({}, std::make_unique<FakeAudio>(Noise(1000, 1)));
  ASSERT_TRUE(job.ok());
  RecordingSink sink;
  EXPECT_TRUE(absl::IsCancelled((*job)->Step({}, clock->token, sink).status()));
  EXPECT_THAT(sink.segments, IsEmpty());
}

TEST_F(SimEngineTest, CanEmitAfterACancel) {
  const auto job = Start(5000, "sim:emit_after_cancel=1");
  CancelToken token;
  RecordingSink sink;
  ASSERT_TRUE(job->Step({}, token, sink).ok());
  token.Cancel(CancelReason::kRequested, 1);
  EXPECT_TRUE(absl::IsCancelled(job->Step({}, token, sink).status()));
  EXPECT_THAT(sink.segments, SizeIs(1));
}

TEST_F(SimEngineTest, FailsAtTheStepAskedFor) {
  const RunResult run = RunWithPrompt("sim:fail_at_step=13");
  EXPECT_EQ(run.status.code(), absl::StatusCode::kInternal);
  EXPECT_EQ(run.steps, 13);
  EXPECT_THAT(run.segments, SizeIs(1));
}

TEST_F(SimEngineTest, ThrowsAtTheStepAskedFor) {
  EXPECT_THROW(RunWithPrompt("sim:throw_at_step=1"), std::runtime_error);
  EXPECT_THROW(RunWithPrompt("sim:out_of_memory_at_step=1"), std::bad_alloc);
}

TEST_F(SimEngineTest, FailsToStartIfAskedTo) {
  const RunResult run = RunWithPrompt("sim:fail_start=1");
  EXPECT_EQ(run.status.code(), absl::StatusCode::kInternal);
  EXPECT_EQ(run.steps, 0);
}

TEST_F(SimEngineTest, BreaksTimesAndTextIfAskedTo) {
  const RunResult run = RunWithPrompt("sim:backwards_times=1 sim:invalid_utf8=1");
  ASSERT_THAT(run.segments, SizeIs(3));
  EXPECT_LT(run.segments[0].start_ms, 0);
  EXPECT_LT(run.segments[1].start_ms, run.segments[0].start_ms);
  EXPECT_LT(run.segments[2].end_ms, run.segments[1].end_ms);
  EXPECT_NE(run.segments[0].text.find('\xFF'), std::string::npos);
}

TEST_F(SimEngineTest, ReportsAudioThatCannotBeDecoded) {
  auto audio = std::make_unique<FakeAudio>(Noise(2000, 1));
  audio->FailAfter(20'000, absl::InvalidArgumentError("truncated"));
  const RunResult run = Transcribe(*engine_, std::move(audio));
  EXPECT_EQ(run.status, absl::InvalidArgumentError("truncated"));
  EXPECT_THAT(run.segments, SizeIs(1));
}

TEST_F(SimEngineTest, RefusesMoreJobsThanItHasRoomFor) {
  Make({{"max_transcriptions", "2"}});
  auto first = Start(1000);
  const auto second = Start(1000);
  EXPECT_EQ(engine_->Memory().allocated_bytes, 2U * 65536U);
  EXPECT_EQ(RunOver({}).status.code(), absl::StatusCode::kResourceExhausted);
  first.reset();
  EXPECT_TRUE(RunOver({}).status.ok());
}

TEST_F(SimEngineTest, RefusesABadLanguageOrPrompt) {
  TranscriptionParams params;
  params.language = "e\xFF";
  EXPECT_EQ(RunOver({}, params).status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(RunWithPrompt("sim:bogus=1").status.code(), absl::StatusCode::kInvalidArgument);
  params.language = "de-AT";
  EXPECT_EQ(RunOver({}, params).progress.language, "de-AT");
}

TEST_F(SimEngineTest, RefusesABadOption) {
  EXPECT_EQ(MakeSimEngine(ConfigWith({{"bogus", "1"}})).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(SimEngineTest, DescribesItself) {
  EXPECT_EQ(engine_->info().name, "sim");
  EXPECT_EQ(engine_->info().max_transcriptions, 64);
  const auto json = nlohmann::json::parse(engine_->CapabilitiesJson());
  EXPECT_EQ(json["engine"], "sim");
  EXPECT_EQ(json["transcription"]["max_jobs"], 64);
  EXPECT_EQ(json["vocab_size"], 256);
  EXPECT_EQ(json["context_tokens"], 32768);
  ASSERT_EQ(json["state_spaces"].size(), 2U);
  EXPECT_EQ(json["state_spaces"][0]["name"], "kv");
  EXPECT_THAT(json["calls"], SizeIs(33));
  EXPECT_THAT(json["calls"], ::testing::Contains("cache_evict_entries"));
  EXPECT_EQ(engine_->info().max_lanes, 256);
  EXPECT_EQ(engine_->info().vocab_size, 256U);
  EXPECT_EQ(engine_->info().kv_bits, 16U);
  EXPECT_NE(engine_->generation(), nullptr);
}

TEST(SimClockTest, RealTimeGoesBy) {
  for (const SimWork work : {SimWork::kSleep, SimWork::kBusy}) {
    const auto clock = MakeRealSimClock(work);
    const absl::Time begin = absl::Now();
    clock->Spend(absl::Milliseconds(2));
    clock->Spend(absl::Milliseconds(-2));
    clock->Hang(absl::Milliseconds(2));
    EXPECT_GE(absl::Now() - begin, absl::Milliseconds(4));
  }
}

}  // namespace
}  // namespace superfluid
