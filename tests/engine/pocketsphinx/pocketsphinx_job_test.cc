#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <iostream>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "engine/audio/live_audio.h"
#include "engine/pocketsphinx/pocketsphinx_engine.h"
#include "tests/engine/pocketsphinx/engine_fixture.h"
#include "tests/engine/pocketsphinx/transcribe.h"

namespace superfluid {
namespace {

using ::testing::HasSubstr;
using PocketsphinxJobTest = PocketsphinxFixture;

// The same audio gives the same result.

TEST_F(PocketsphinxJobTest, RepeatsExactly) {
  EXPECT_EQ(Result(kShort), FreshResult(kShort));
  EXPECT_EQ(Result(kShort), FreshResult(kShort));
}

TEST_F(PocketsphinxJobTest, OtherAudioBeforeChangesNothing) {
  Result(kOther);
  EXPECT_EQ(Result(kCard), FreshResult(kCard));
  Transcribe(engine(), Samples(Noise(3)));
  EXPECT_EQ(Result(kCard), FreshResult(kCard));
  EXPECT_EQ(Result(kShort), FreshResult(kShort));
}

TEST_F(PocketsphinxJobTest, AnAbandonedJobBeforeChangesNothing) {
  for (const int steps : {0, 1, 5, 30, 60}) {
    KeepSegments sink;
    std::unique_ptr<TranscriptionJob> job = Start(Recording(kLong));
    Advance(*job, steps, sink);
    job.reset();
    EXPECT_EQ(Result(kCard), FreshResult(kCard)) << steps;
  }
}

TEST_F(PocketsphinxJobTest, InterleavedJobsDoNotMix) {
  std::unique_ptr<TranscriptionJob> a = Start(Recording(kShort));
  std::unique_ptr<TranscriptionJob> b = Start(Recording(kCard));
  KeepSegments of_a;
  KeepSegments of_b;
  const CancelToken token;
  int running = 2;
  bool done_a = false;
  bool done_b = false;
  while (running > 0) {
    for (auto [job, sink, done] :
         {std::tuple{a.get(), &of_a, &done_a}, {b.get(), &of_b, &done_b}}) {
      if (*done) continue;
      absl::StatusOr<StepOutcome> outcome = job->Step({}, token, *sink);
      ASSERT_TRUE(outcome.ok()) << outcome.status();
      *done = *outcome == StepOutcome::kDone;
      running -= *done ? 1 : 0;
    }
  }
  EXPECT_EQ(Describe(of_a.finals), FreshResult(kShort));
  EXPECT_EQ(Describe(of_b.finals), FreshResult(kCard));
}

TEST_F(PocketsphinxJobTest, TheBudgetChangesNothing) {
  for (const absl::Duration target : {absl::ZeroDuration(), absl::Seconds(10)}) {
    const Transcript transcript = Transcribe(engine(), Recording(kCard), {}, {target});
    EXPECT_EQ(Describe(transcript.segments), FreshResult(kCard)) << target;
  }
}

TEST_F(PocketsphinxJobTest, BudgetBoundsAStep) {
  const auto steps = [](absl::Duration target) {
    return Transcribe(engine(), Recording(kCard), {}, {target}).step_ms.size();
  };
  // 1.5 s of audio: each 10 ms is read, and searched if it is speech.
  EXPECT_GT(steps(absl::ZeroDuration()), 250u) << "without a budget, one unit a step";
  EXPECT_LT(steps(absl::Seconds(10)), 30u);
}

// Cancelling and failing.

TEST_F(PocketsphinxJobTest, CancelStopsWithinTheStepAndTheNextJobIsRight) {
  std::unique_ptr<TranscriptionJob> job = Start(Recording(kLong));
  KeepSegments sink;
  Advance(*job, 20, sink);
  CancelToken token;
  token.Cancel(CancelReason::kRequested, 1);
  EXPECT_EQ(job->Step({}, token, sink).status().code(), absl::StatusCode::kCancelled);
  job.reset();
  EXPECT_EQ(Result(kCard), FreshResult(kCard));
}

TEST_F(PocketsphinxJobTest, AbandoningAJobIsCheap) {
  std::vector<double> destroy_ms;
  for (const int steps : {1, 10, 20, 40, 80}) {
    KeepSegments sink;
    std::unique_ptr<TranscriptionJob> job = Start(Recording(kLong));
    Advance(*job, steps, sink);
    const double start_ms = ThreadCpuMs();
    job.reset();
    destroy_ms.push_back(ThreadCpuMs() - start_ms);
  }
  std::cout << "processor time of destroying a job: " << Distribution(destroy_ms) << " ms\n";
  for (const double ms : destroy_ms) EXPECT_LT(ms, 20);
}

TEST_F(PocketsphinxJobTest, AnAudioErrorComesAfterWhatWasHeard) {
  const Transcript transcript =
      Transcribe(engine(), Samples(RecordingSamples(kShort), absl::InvalidArgumentError("torn")));
  EXPECT_EQ(transcript.status, absl::InvalidArgumentError("torn"));
  EXPECT_THAT(transcript.text(), HasSubstr("young man"));
}

// Live audio.

TEST_F(PocketsphinxJobTest, LiveAudioWaitsAndGivesTheSameHoweverItArrives) {
  const std::vector<float> samples = Joined(RecordingSamples(kShort), Silence(0.7));
  const auto run = [&](size_t chunk) {
    absl::StatusOr<std::unique_ptr<LiveAudio>> live =
        LiveAudio::Create({.encoding = PcmEncoding::kF32});
    EXPECT_TRUE(live.ok());
    std::unique_ptr<TranscriptionJob> job = Start((*live)->TakeSource());
    KeepSegments sink;
    const CancelToken token;
    const absl::Span<const std::byte> bytes(reinterpret_cast<const std::byte*>(samples.data()),
                                            samples.size() * sizeof(float));
    size_t pushed = 0;
    size_t waits = 0;
    for (;;) {
      absl::StatusOr<StepOutcome> outcome = job->Step({}, token, sink);
      EXPECT_TRUE(outcome.ok()) << outcome.status();
      if (!outcome.ok() || *outcome == StepOutcome::kDone) break;
      if (*outcome != StepOutcome::kWaitingForAudio) continue;
      ++waits;
      const absl::Span<const std::byte> next = bytes.subspan(pushed, chunk);
      EXPECT_TRUE((*live)->Push(next).ok());
      pushed += next.size();
      if (pushed == bytes.size()) (*live)->End();
    }
    EXPECT_GE(waits, bytes.size() / chunk);
    EXPECT_EQ(job->Progress().audio_ms, job->Progress().audio_total_ms);
    return Describe(sink.finals);
  };
  const std::string result = run(6400);
  EXPECT_THAT(result, HasSubstr("young man"));
  EXPECT_EQ(run(1000), result);
  EXPECT_EQ(run(1 << 20), result);
}

}  // namespace
}  // namespace superfluid
