// The example engine hears how loud it is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "tests/engine/abi/engine_test_util.h"
#include "tests/engine/examples/example_fixture.h"

namespace superfluid {
namespace {

using testing::Describe;
using ::testing::ElementsAre;
using testing::FakeAudio;
using ::testing::IsEmpty;
using testing::RunResult;
using ::testing::SizeIs;

class ExampleTranscriptionTest : public testing::ExampleFixture {
 protected:
  // A tone of that amplitude, or silence; appended to the audio.
  void Add(int ms, float amplitude) {
    for (int i = 0; i < ms * 16; ++i) {
      samples_.push_back(amplitude * std::sin(static_cast<float>(samples_.size()) * 0.3F));
    }
  }
  RunResult Hear(size_t block = 480, bool live = false) {
    return testing::Transcribe(*engine_, std::make_unique<FakeAudio>(samples_, block, live));
  }

  std::vector<float> samples_;
};

TEST_F(ExampleTranscriptionTest, ReportsStretchesOfSound) {
  Add(500, 0);
  Add(400, 0.5F);
  Add(600, 0);
  Add(100, 0.05F);
  const RunResult run = Hear();
  ASSERT_TRUE(run.status.ok()) << run.status;
  EXPECT_THAT(Describe(run.segments), ElementsAre("500-900 'sound at -9 dB' 0 0 0 0 []",
                                                  "1500-1600 'sound at -29 dB' 0 0 0 0 []"));
  EXPECT_EQ(run.progress.audio_ms, 1600);
  EXPECT_EQ(run.progress.audio_total_ms, 1600);
  EXPECT_EQ(run.progress.language, "zxx");
}

TEST_F(ExampleTranscriptionTest, BridgesShortPauses) {
  Add(200, 0.5F);
  Add(100, 0);
  Add(200, 0.5F);
  EXPECT_THAT(Hear().segments, SizeIs(1));
}

TEST_F(ExampleTranscriptionTest, HearsTheSameInAnyBlocksAndLive) {
  for (int i = 0; i < 7; ++i) Add(313, i % 2 == 0 ? 0.3F : 0.0001F);
  const std::vector<std::string> whole = Describe(Hear(100'000).segments);
  EXPECT_THAT(whole, SizeIs(4));
  EXPECT_EQ(Describe(Hear(1).segments), whole);
  const RunResult live = Hear(777, /*live=*/true);
  EXPECT_GT(live.starved, 0);
  EXPECT_EQ(Describe(live.segments), whole);
}

TEST_F(ExampleTranscriptionTest, SilenceAndNothingAreNoSound) {
  EXPECT_THAT(Hear().segments, IsEmpty());
  Add(1000, 0);
  EXPECT_THAT(Hear().segments, IsEmpty());
}

TEST_F(ExampleTranscriptionTest, WorksASecondAStep) {
  Add(10'000, 0.5F);
  EXPECT_EQ(Hear().steps, 10);
}

TEST_F(ExampleTranscriptionTest, ACancelEndsIt) {
  Add(10'000, 0.5F);
  auto job = engine_->StartTranscription({}, std::make_unique<FakeAudio>(samples_));
  ASSERT_TRUE(job.ok());
  token_.Cancel(CancelReason::kRequested, 1);
  testing::RecordingSink sink;
  EXPECT_TRUE(absl::IsCancelled((*job)->Step({}, token_, sink).status()));
}

TEST_F(ExampleTranscriptionTest, RefusesWhatItCannotDo) {
  TranscriptionParams params;
  params.translate = true;
  EXPECT_EQ(
      testing::Transcribe(*engine_, std::make_unique<FakeAudio>(samples_), params).status.code(),
      absl::StatusCode::kUnimplemented);
  std::vector<std::unique_ptr<TranscriptionJob>> jobs;
  jobs.reserve(4);
  for (int i = 0; i < 4; ++i) {
    jobs.push_back(*engine_->StartTranscription({}, std::make_unique<FakeAudio>(samples_)));
  }
  EXPECT_EQ(Hear().status.code(), absl::StatusCode::kResourceExhausted);
  jobs.pop_back();
  EXPECT_TRUE(Hear().status.ok());
}

}  // namespace
}  // namespace superfluid
