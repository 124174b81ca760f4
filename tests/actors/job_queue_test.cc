#include "actors/engine/job_queue.h"

#include <map>

#include "gtest/gtest.h"

namespace superfluid {
namespace {

constexpr int64_t kMs = 1'000'000;

RequestKey Key(uint64_t seq) { return {LinkId{1}, seq}; }

class JobQueueTest : public testing::Test {
 protected:
  void AddAndStart(uint64_t seq, int64_t deadline_ns = 0) {
    queue_.Add(Key(seq), deadline_ns);
    queue_.Start(Key(seq));
  }
  // Gives `steps` steps of `cost_ns`; returns how many each job got.
  std::map<uint64_t, int> Run(int steps, int64_t cost_ns) {
    std::map<uint64_t, int> got;
    for (int i = 0; i < steps; ++i) {
      const std::optional<RequestKey> next = queue_.NextToStep();
      if (!next) break;
      ++got[next->seq];
      queue_.Charge(*next, cost_ns);
    }
    return got;
  }

  JobQueue queue_{absl::Milliseconds(10)};
};

TEST_F(JobQueueTest, NothingIsReadyInAnEmptyQueue) {
  EXPECT_FALSE(queue_.NextToStep().has_value());
  EXPECT_FALSE(queue_.NextToStart().has_value());
}

TEST_F(JobQueueTest, AWaitingJobIsStartedNotStepped) {
  queue_.Add(Key(1), 0);
  EXPECT_FALSE(queue_.NextToStep().has_value());
  EXPECT_EQ(queue_.NextToStart(), Key(1));
  EXPECT_EQ(queue_.waiting(), 1u);
  queue_.Start(Key(1));
  EXPECT_EQ(queue_.NextToStep(), Key(1));
  EXPECT_FALSE(queue_.NextToStart().has_value());
  EXPECT_EQ(queue_.started(), 1u);
}

TEST_F(JobQueueTest, EqualJobsGetEqualTime) {
  for (uint64_t seq = 1; seq <= 4; ++seq) AddAndStart(seq);
  for (const auto& [seq, steps] : Run(400, 20 * kMs)) EXPECT_EQ(steps, 100) << seq;
}

TEST_F(JobQueueTest, AJobWithLongStepsGetsFewerOfThem) {
  AddAndStart(1);
  AddAndStart(2);
  int64_t time[3] = {};
  for (int i = 0; i < 1000; ++i) {
    const uint64_t seq = queue_.NextToStep()->seq;
    const int64_t cost = seq == 1 ? 50 * kMs : 5 * kMs;
    time[seq] += cost;
    queue_.Charge(Key(seq), cost);
  }
  EXPECT_NEAR(static_cast<double>(time[1]) / static_cast<double>(time[2]), 1.0, 0.05);
}

TEST_F(JobQueueTest, ANewcomerGetsItsShareAndNoArrears) {
  AddAndStart(1);
  Run(1000, kMs);
  AddAndStart(2);
  const std::map<uint64_t, int> got = Run(100, kMs);
  EXPECT_GE(got.at(1), 40);
  EXPECT_GE(got.at(2), 40);
}

TEST_F(JobQueueTest, AJobThatPausedGetsNoArrears) {
  AddAndStart(1);
  AddAndStart(2);
  queue_.SetPaused(Key(2), true);
  EXPECT_EQ(Run(1000, kMs).count(2), 0u);
  queue_.SetPaused(Key(2), false);
  EXPECT_GE(Run(100, kMs).at(1), 40);
}

TEST_F(JobQueueTest, ANewcomerWhileTheVeteranIsPausedGetsItsShareOnly) {
  AddAndStart(1);
  Run(3600, 10 * kMs);
  queue_.SetPaused(Key(1), true);  // it waits for its next chunk
  AddAndStart(2);
  queue_.SetPaused(Key(1), false);
  const std::map<uint64_t, int> got = Run(100, 10 * kMs);
  EXPECT_GE(got.at(1), 49);
  EXPECT_GE(got.at(2), 49);
}

TEST_F(JobQueueTest, AVeteranThatReturnsGetsNoArrearsOfTheTimeWhenItWasAlone) {
  AddAndStart(1);
  queue_.SetPaused(Key(1), true);
  AddAndStart(2);
  Run(1000, 10 * kMs);
  queue_.SetPaused(Key(2), true);
  queue_.SetPaused(Key(1), false);
  queue_.SetPaused(Key(2), false);
  const std::map<uint64_t, int> got = Run(100, 10 * kMs);
  EXPECT_GE(got.at(1), 49);
  EXPECT_GE(got.at(2), 49);
}

// One that pauses after each step pays for each all the same.
TEST_F(JobQueueTest, AJobThatPausesAfterEachStepGetsNoMoreThanItsShare) {
  AddAndStart(1);
  AddAndStart(2);
  int64_t time[3] = {};
  for (int i = 0; i < 1000; ++i) {
    const uint64_t seq = queue_.NextToStep()->seq;
    const int64_t cost = seq == 1 ? 200 * kMs : 5 * kMs;
    time[seq] += cost;
    queue_.Charge(Key(seq), cost);
    queue_.SetPaused(Key(1), true);
    queue_.SetPaused(Key(1), false);
  }
  EXPECT_NEAR(static_cast<double>(time[1]) / static_cast<double>(time[2]), 1.0, 0.1);
}

TEST_F(JobQueueTest, AWaitingJobWithNothingToReadTakesNoPlace) {
  queue_.Add(Key(1), 0);
  queue_.SetPaused(Key(1), true);
  queue_.Add(Key(2), 0);
  EXPECT_EQ(queue_.NextToStart(), Key(2));
  queue_.Start(Key(2));
  EXPECT_EQ(queue_.NextToStart(), std::nullopt);
  EXPECT_EQ(queue_.waiting(), 1u);
  queue_.SetPaused(Key(1), false);
  EXPECT_EQ(queue_.NextToStart(), Key(1));
}

TEST_F(JobQueueTest, AJobWithoutADeadlineIsNotOvertakenForEver) {
  queue_.Add(Key(1), 0);
  for (uint64_t seq = 2; seq < 100; ++seq) {
    queue_.Add(Key(seq), static_cast<int64_t>(seq));
    const RequestKey next = *queue_.NextToStart();
    queue_.Start(next);
    queue_.Remove(next);
    if (next == Key(1)) return;
  }
  FAIL() << "98 others went first";
}

TEST_F(JobQueueTest, ADeadlineGoesFirstWithinItsShareOnly) {
  AddAndStart(1);
  AddAndStart(2, /*deadline_ns=*/5);
  EXPECT_EQ(queue_.NextToStep(), Key(2));
  const std::map<uint64_t, int> got = Run(200, 20 * kMs);
  EXPECT_NEAR(got.at(1), 100, 2);
  EXPECT_NEAR(got.at(2), 100, 2);
}

TEST_F(JobQueueTest, WaitingJobsStartByDeadlineThenArrival) {
  queue_.Add(Key(1), 0);
  queue_.Add(Key(2), 900);
  queue_.Add(Key(3), 100);
  queue_.Add(Key(4), 0);
  for (const uint64_t seq : {3, 2, 1, 4}) {
    EXPECT_EQ(queue_.NextToStart(), Key(seq));
    queue_.Start(Key(seq));
  }
}

TEST_F(JobQueueTest, RemovedJobsAreGone) {
  AddAndStart(1);
  queue_.Add(Key(2), 0);
  queue_.Remove(Key(1));
  queue_.Remove(Key(2));
  queue_.Remove(Key(2));
  EXPECT_FALSE(queue_.NextToStep().has_value());
  EXPECT_EQ(queue_.waiting(), 0u);
  EXPECT_EQ(queue_.started(), 0u);
}

TEST_F(JobQueueTest, KeysOfALinkAreOnlyItsOwn) {
  queue_.Add({LinkId{1}, 5}, 0);
  queue_.Add({LinkId{2}, 5}, 0);
  queue_.Add({LinkId{2}, 6}, 0);
  EXPECT_EQ(queue_.KeysOf(LinkId{2}).size(), 2u);
  EXPECT_EQ(queue_.KeysOf(LinkId{3}).size(), 0u);
}

}  // namespace
}  // namespace superfluid
