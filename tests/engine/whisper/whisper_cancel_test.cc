#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/engine/whisper/audio_samples.h"
#include "tests/engine/whisper/engine_fixture.h"

namespace superfluid {
namespace {

// A token that a computation looks at, and that cancels itself at one of the looks.
class TokenAtLook {
 public:
  explicit TokenAtLook(int cancel_at) : cancel_at_(cancel_at) {}

  const CancelToken& token() const { return token_; }
  int looks() const { return looks_; }

 private:
  static CancelReason Look(void* self) noexcept {
    auto* const look = static_cast<TokenAtLook*>(self);
    ++look->looks_;
    return look->looks_ >= look->cancel_at_ ? CancelReason::kRequested : CancelReason::kNone;
  }

  std::atomic<int> looks_ = 0;
  const int cancel_at_;
  const CancelToken token_{&TokenAtLook::Look, this};
};

class WhisperCancelTest : public WhisperFixture {
 protected:
  void SetUp() override {
    Make();
    usual_ = DescribeAll(Hear(samples_).segments);
    ASSERT_NE(usual_, "");
  }

  void ExpectNextIsRight() { EXPECT_EQ(DescribeAll(Hear(samples_).segments), usual_); }

  // Steps until the job has ended; how.
  static absl::Status Run(TranscriptionJob& job, const CancelToken& token, KeepSegments& sink) {
    for (;;) {
      const absl::StatusOr<StepOutcome> outcome = job.Step({}, token, sink);
      if (!outcome.ok() || *outcome == StepOutcome::kDone) return outcome.status();
    }
  }

  const std::vector<float> samples_ = Babble(1.2, 21);
  std::string usual_;
};

TEST_F(WhisperCancelTest, AtEveryStep) {
  const std::vector<float> other = Babble(1.5, 22);
  const size_t steps = Hear(other).step_ms.size();
  ASSERT_GT(steps, 10U);
  std::vector<double> last_ms;
  for (size_t count = 0; count < steps; ++count) {
    std::unique_ptr<TranscriptionJob> job = Start(Samples(other));
    KeepSegments sink;
    CancelToken token;
    for (size_t i = 0; i < count; ++i) ASSERT_TRUE(job->Step({}, token, sink).ok()) << i;
    token.Cancel(CancelReason::kRequested, 1);
    const double start_ms = ThreadCpuMs();
    EXPECT_EQ(job->Step({}, token, sink).status().code(), absl::StatusCode::kCancelled) << count;
    job.reset();
    last_ms.push_back(ThreadCpuMs() - start_ms);
    if (count % 7 == 0) ExpectNextIsRight();
  }
  std::cout << "processor time of a cancel and the job's end: " << Distribution(last_ms) << " ms\n";
  ExpectNextIsRight();
}

TEST_F(WhisperCancelTest, AtEveryLookInsideAComputation) {
  const std::vector<float> other = Babble(1.5, 23);
  TokenAtLook never(1 << 30);
  {
    const std::unique_ptr<TranscriptionJob> job = Start(Samples(other));
    KeepSegments sink;
    ASSERT_TRUE(Run(*job, never.token(), sink).ok());
  }
  const int looks = never.looks();
  ASSERT_GT(looks, 200) << "computations look at the token between their parts";
  for (int at = 1; at <= looks; at += 1 + looks / 60) {
    const std::unique_ptr<TranscriptionJob> job = Start(Samples(other));
    KeepSegments sink;
    const TokenAtLook token(at);
    EXPECT_EQ(Run(*job, token.token(), sink).code(), absl::StatusCode::kCancelled) << at;
    EXPECT_LE(token.looks(), at + 40) << "what was going on ended at once";
  }
  ExpectNextIsRight();
}

TEST_F(WhisperCancelTest, InsideADetection) {
  const std::vector<float> other = Babble(1.5, 24);
  for (int at = 5; at < 120; at += 7) {
    const std::unique_ptr<TranscriptionJob> job = Start(Samples(other), {});
    KeepSegments sink;
    const TokenAtLook token(at);
    EXPECT_EQ(Run(*job, token.token(), sink).code(), absl::StatusCode::kCancelled) << at;
  }
  ExpectNextIsRight();
}

// The engine is in the middle of an encode, and another thread sets the token.
TEST_F(WhisperCancelTest, FromAnotherThreadInsideAnEncode) {
  struct Meeting {
    std::promise<void> inside;
    std::promise<void> cancelled;
    int looks = 0;
  } meeting;
  const CancelToken::Poll poll = [](void* data) noexcept {
    auto* const met = static_cast<Meeting*>(data);
    if (++met->looks == 30) {
      met->inside.set_value();
      met->cancelled.get_future().wait();
    }
    return CancelReason::kNone;
  };
  CancelToken token(poll, &meeting);
  std::thread other([&meeting, &token] {
    meeting.inside.get_future().wait();
    token.Cancel(CancelReason::kDeadline, 1);
    meeting.cancelled.set_value();
  });
  const std::unique_ptr<TranscriptionJob> job = Start(Samples(Babble(1.5, 25)));
  KeepSegments sink;
  EXPECT_EQ(Run(*job, token, sink).code(), absl::StatusCode::kCancelled);
  other.join();
  EXPECT_TRUE(sink.finals.empty());
  EXPECT_EQ(meeting.looks, 30) << "it was in the middle, and asked no more";
  ExpectNextIsRight();
}

TEST_F(WhisperCancelTest, SegmentsBeforeStayAndNoneComesAfter) {
  const std::vector<float> other = Babble(50, 26);
  const std::unique_ptr<TranscriptionJob> job = Start(Samples(other));
  KeepSegments sink;
  CancelToken token;
  while (sink.finals.empty()) ASSERT_TRUE(job->Step({}, token, sink).ok());
  const std::string before = DescribeAll(sink.finals);
  token.Cancel(CancelReason::kRequested, 1);
  EXPECT_EQ(job->Step({}, token, sink).status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(DescribeAll(sink.finals), before);
}

TEST_F(WhisperCancelTest, AJobBesideACancelledOneIsRight) {
  const std::unique_ptr<TranscriptionJob> kept = Start(Samples(samples_));
  KeepSegments of_kept;
  const CancelToken never;
  bool done = false;
  for (int round = 0; !done; ++round) {
    const std::unique_ptr<TranscriptionJob> dropped = Start(Samples(Babble(1, 27)));
    KeepSegments sink;
    const TokenAtLook token(3 + 11 * (round % 13));
    EXPECT_EQ(Run(*dropped, token.token(), sink).code(), absl::StatusCode::kCancelled);
    for (int i = 0; i < 3 && !done; ++i) {
      const absl::StatusOr<StepOutcome> outcome = kept->Step({}, never, of_kept);
      ASSERT_TRUE(outcome.ok()) << outcome.status();
      done = *outcome == StepOutcome::kDone;
    }
  }
  EXPECT_EQ(DescribeAll(of_kept.finals), usual_);
}

}  // namespace
}  // namespace superfluid
