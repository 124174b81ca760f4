#include "actors/dispatch/deadlines.h"

#include <optional>
#include <vector>

#include "gtest/gtest.h"

namespace superfluid {
namespace {

TEST(DeadlinesTest, PassedDeadlinesAreTakenOnce) {
  Deadlines deadlines;
  deadlines.Add(1, 300);
  deadlines.Add(2, 100);
  deadlines.Add(3, 200);
  deadlines.Remove(3);
  EXPECT_EQ(deadlines.TakePassed(99), std::vector<uint64_t>{});
  EXPECT_EQ(deadlines.TakePassed(250), std::vector<uint64_t>{2});
  EXPECT_EQ(deadlines.TakePassed(1000), std::vector<uint64_t>{1});
  EXPECT_EQ(deadlines.TakePassed(1000), std::vector<uint64_t>{});
}

TEST(DeadlinesTest, OneTimerServesManyRequests) {
  Deadlines deadlines;
  deadlines.Add(1, 100);
  EXPECT_EQ(deadlines.NextTimer(), 100);
  deadlines.Add(2, 200);
  EXPECT_EQ(deadlines.NextTimer(), std::nullopt) << "the timer is set for an earlier time";
  deadlines.Add(3, 50);
  EXPECT_EQ(deadlines.NextTimer(), 50);
  deadlines.TimerFired();
  EXPECT_EQ(deadlines.TakePassed(50), std::vector<uint64_t>{3});
  EXPECT_EQ(deadlines.NextTimer(), 100);
}

}  // namespace
}  // namespace superfluid
