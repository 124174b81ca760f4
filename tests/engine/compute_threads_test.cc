#include "engine/compute_threads.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <vector>

#include "engine/monotonic_time.h"

namespace superfluid {
namespace {

// Two CPUs for a while: `others` of them kept busy by others, `own` by us.
class ThreadChoiceTest : public ::testing::Test {
 protected:
  int After(double others, double own, absl::Duration time = absl::Milliseconds(200)) {
    times_.at += time;
    times_.own += time * own;
    times_.busy += time * (own + others);
    return choice_.Next();
  }

  // So long ago that each look is late enough.
  CpuTimes times_{MonotonicTime() - absl::Hours(1), absl::Seconds(500), absl::Seconds(5), 2};
  bool known_ = true;
  ThreadChoice choice_{2, [this] { return known_ ? std::optional(times_) : std::nullopt; }};
};

TEST_F(ThreadChoiceTest, BesideBusyNeighboursOneThreadComputes) {
  EXPECT_EQ(choice_.Next(), 2);
  EXPECT_EQ(After(1.0, 1.0), 1) << "two neighbours, two of ours";
  EXPECT_EQ(After(1.33, 0.67), 1) << "two neighbours, one of ours";
  EXPECT_EQ(After(1.0, 1.0), 1) << "one neighbour, one of ours";
  EXPECT_EQ(After(0.0, 1.0), 2) << "they are gone";
  EXPECT_EQ(After(0.67, 1.33), 1) << "one neighbour, two of ours";
}

TEST_F(ThreadChoiceTest, SmallThingsBesideItCostNoThread) {
  EXPECT_EQ(choice_.Next(), 2);
  EXPECT_EQ(After(0.1, 1.9), 2);
  EXPECT_EQ(After(0.25, 1.7), 2);
}

TEST_F(ThreadChoiceTest, MoreCpusThanAreWantedMayBeBusy) {
  times_.cpus = 8;
  EXPECT_EQ(choice_.Next(), 2);
  EXPECT_EQ(After(5.9, 2.0), 2);
  EXPECT_EQ(After(7.0, 1.0), 1);
  EXPECT_EQ(After(8.0, 0.0), 1);
}

TEST_F(ThreadChoiceTest, ChangesNothingWithoutNews) {
  EXPECT_EQ(choice_.Next(), 2);
  EXPECT_EQ(After(2.0, 0.0, absl::Milliseconds(20)), 2) << "too short a time to tell";
  known_ = false;
  EXPECT_EQ(After(2.0, 0.0), 2);
}

TEST_F(ThreadChoiceTest, APauseIsForgottenWhenWorkBegins) {
  EXPECT_EQ(choice_.Next(), 2);
  times_.at += absl::Minutes(10);
  times_.busy += absl::Seconds(10);
  choice_.Begin();
  EXPECT_EQ(After(2.0, 0.0), 1);
}

TEST_F(ThreadChoiceTest, OneThreadLooksAtNothing) {
  ThreadChoice one(1, []() -> std::optional<CpuTimes> {
    ADD_FAILURE() << "it looked";
    return std::nullopt;
  });
  one.Begin();
  EXPECT_EQ(one.Next(), 1);
}

TEST(CpuTimesTest, GoForward) {
  const std::optional<CpuTimes> first = ReadCpuTimes();
  ASSERT_TRUE(first.has_value());
  const absl::Time end = MonotonicTime() + absl::Milliseconds(50);
  while (MonotonicTime() < end) {
  }
  const std::optional<CpuTimes> second = ReadCpuTimes();
  ASSERT_TRUE(second.has_value());
  EXPECT_GT(second->at, first->at);
  EXPECT_GT(second->own, first->own);
  EXPECT_GE(second->busy, first->busy);
  EXPECT_GE(first->cpus, 1);
}

TEST(CpuMaxTest, IsAQuotaOfAPeriod) {
  EXPECT_EQ(ParseCpuMax("150000 100000"), 1.5);
  EXPECT_EQ(ParseCpuMax("50000 100000"), 0.5);
  for (const char* none : {"", "max 100000", "max", "100000", "0 100000", "1 0", "-5 5", "1 2 3"}) {
    EXPECT_EQ(ParseCpuMax(none), std::nullopt) << none;
  }
}

TEST(ThreadLimitTest, ThereAreNoMoreThreadsThanCpus) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  ASSERT_EQ(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
  EXPECT_EQ(LimitThreads(0).threads, 1);
  EXPECT_EQ(LimitThreads(1).threads, 1);
  EXPECT_EQ(LimitThreads(1).warning, "");
  const ThreadLimit limit = LimitThreads(4096);
  EXPECT_LE(limit.threads, CPU_COUNT(&allowed));
  EXPECT_GE(limit.threads, 1);
  EXPECT_NE(limit.warning.find("4096"), std::string::npos);
}

}  // namespace
}  // namespace superfluid
