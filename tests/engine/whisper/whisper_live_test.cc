#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "engine/audio/live_audio.h"
#include "tests/engine/whisper/audio_samples.h"
#include "tests/engine/whisper/engine_fixture.h"

namespace superfluid {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;

class WhisperLiveTest : public WhisperFixture {
 protected:
  void SetUp() override { Make(); }

  static TranscriptionParams WithPartials() {
    TranscriptionParams params = English();
    params.partial_results = true;
    return params;
  }

  // Final and partial segments in the order of their delivery.
  class InOrder : public SegmentSink {
   public:
    void OnSegment(TranscribedSegment segment) override { all.push_back(std::move(segment)); }
    std::vector<TranscribedSegment> all;
  };
};

TEST_F(WhisperLiveTest, WithoutAPauseItIsLikeARecording) {
  const std::vector<float> samples = Babble(6, 31);
  const std::string recorded = DescribeAll(Hear(samples).segments);
  ASSERT_NE(recorded, "");
  for (const size_t chunk : {1600U, 5000U, 96'000U}) {
    const Transcript live = HearLive(samples, chunk);
    ASSERT_TRUE(live.status.ok()) << live.status;
    EXPECT_EQ(DescribeAll(live.segments), recorded) << chunk;
    EXPECT_EQ(live.progress.audio_ms, 6000);
    EXPECT_EQ(live.progress.audio_total_ms, 6000);
    EXPECT_THAT(live.partials, IsEmpty());
  }
}

TEST_F(WhisperLiveTest, APauseEndsAPieceWithoutWaitingForMore) {
  const std::vector<float> first = Babble(2, 32);
  const std::vector<float> samples = Join(Join(first, Quiet(1.5)), Babble(2, 33));
  const Transcript live = HearLive(samples, 1600);
  const Transcript at_once = HearLive(samples, samples.size());
  EXPECT_EQ(DescribeAll(live.segments), DescribeAll(at_once.segments)) << "however it arrives";
  std::vector<float> piece = first;
  piece.resize(size_t{88} * 512, 0.0F);  // the first block that makes it 800 ms of silence
  const Transcript alone = Hear(piece);
  ASSERT_THAT(alone.segments, Not(IsEmpty()));
  ASSERT_GE(live.segments.size(), alone.segments.size());
  for (size_t i = 0; i < alone.segments.size(); ++i) {
    EXPECT_EQ(live.segments[i].text, alone.segments[i].text) << "the first piece, to its pause";
  }
}

TEST_F(WhisperLiveTest, FinalSegmentsComeWhileAudioStillArrives) {
  absl::StatusOr<std::unique_ptr<LiveAudio>> live =
      LiveAudio::Create({.encoding = PcmEncoding::kF32});
  const std::unique_ptr<TranscriptionJob> job = Start((*live)->TakeSource());
  const std::vector<float> samples = Join(Babble(2, 34), Quiet(1));
  ASSERT_TRUE((*live)
                  ->Push({reinterpret_cast<const std::byte*>(samples.data()),
                          samples.size() * sizeof(float)})
                  .ok());
  KeepSegments sink;
  const CancelToken token;
  for (;;) {
    const absl::StatusOr<StepOutcome> outcome = job->Step({}, token, sink);
    ASSERT_TRUE(outcome.ok()) << outcome.status();
    if (*outcome == StepOutcome::kWaitingForAudio) break;
  }
  EXPECT_THAT(sink.finals, Not(IsEmpty()));
}

TEST_F(WhisperLiveTest, LongLiveAudioIsCutAtThirtySeconds) {
  const std::vector<float> samples = Babble(40, 35);
  const Transcript live = HearLive(samples, 16'000);
  ASSERT_TRUE(live.status.ok()) << live.status;
  EXPECT_EQ(DescribeAll(live.segments), DescribeAll(Hear(samples).segments))
      << "the windows of a recording";
}

TEST_F(WhisperLiveTest, PartialResultsChangeNoFinalOne) {
  const std::vector<float> samples = Join(Join(Babble(5, 36), Quiet(1.5)), Babble(4, 37));
  const Transcript without = HearLive(samples, 8000);
  const Transcript with = HearLive(samples, 8000, WithPartials());
  EXPECT_EQ(DescribeAll(with.segments), DescribeAll(without.segments));
  EXPECT_THAT(with.partials, Not(IsEmpty()));
  for (const TranscribedSegment& partial : with.partials) EXPECT_NE(partial.text, "");
}

TEST_F(WhisperLiveTest, PartialResultsFollowTheLastFinalOne) {
  absl::StatusOr<std::unique_ptr<LiveAudio>> live =
      LiveAudio::Create({.encoding = PcmEncoding::kF32});
  const std::unique_ptr<TranscriptionJob> job = Start((*live)->TakeSource(), WithPartials());
  const std::vector<float> samples =
      Join(Join(Join(Babble(4, 38), Quiet(1.5)), Babble(4, 39)), Quiet(1.5));
  const absl::Span<const std::byte> bytes(reinterpret_cast<const std::byte*>(samples.data()),
                                          samples.size() * sizeof(float));
  InOrder sink;
  const CancelToken token;
  size_t pushed = 0;
  for (bool done = false; !done;) {
    const absl::StatusOr<StepOutcome> outcome = job->Step({}, token, sink);
    ASSERT_TRUE(outcome.ok()) << outcome.status();
    done = *outcome == StepOutcome::kDone;
    if (*outcome != StepOutcome::kWaitingForAudio) continue;
    const absl::Span<const std::byte> next = bytes.subspan(pushed, 16'000);
    ASSERT_TRUE((*live)->Push(next).ok());
    pushed += next.size();
    if (pushed == bytes.size()) (*live)->End();
  }
  int64_t final_end = 0;
  int partials = 0;
  for (const TranscribedSegment& segment : sink.all) {
    EXPECT_GE(segment.start_ms, final_end);
    EXPECT_GE(segment.end_ms, segment.start_ms);
    partials += segment.is_partial ? 1 : 0;
    if (!segment.is_partial) final_end = segment.end_ms;
  }
  EXPECT_GT(partials, 0);
  EXPECT_GT(final_end, 5500) << "both pieces";
}

TEST_F(WhisperLiveTest, SilentLiveAudioHasNoTextAndIsNotKept) {
  const Transcript live = HearLive(Quiet(100), 16'000, WithPartials());
  EXPECT_TRUE(live.status.ok());
  EXPECT_THAT(live.segments, IsEmpty());
  EXPECT_THAT(live.partials, IsEmpty());
  EXPECT_EQ(live.progress.audio_ms, 100'000);
}

TEST_F(WhisperLiveTest, SpeechLongAfterTheStartHasItsTimes) {
  const Transcript live = HearLive(Join(Quiet(20), Babble(3, 40)), 16'000);
  ASSERT_THAT(live.segments, Not(IsEmpty()));
  EXPECT_GE(live.segments.front().start_ms, 19'700);
  EXPECT_LE(live.segments.back().end_ms, 23'000);
}

TEST_F(WhisperLiveTest, NoAudioAtAll) {
  const Transcript live = HearLive({}, 1600);
  EXPECT_TRUE(live.status.ok()) << live.status;
  EXPECT_THAT(live.segments, IsEmpty());
}

}  // namespace
}  // namespace superfluid
