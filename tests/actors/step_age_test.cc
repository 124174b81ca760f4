#include "actors/messages/step_age.h"

#include "gtest/gtest.h"

namespace superfluid {
namespace {

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kPeriod = 250 * kMs;

// A watchdog in virtual time.
class StepAgeTest : public testing::Test {
 protected:
  // Lets time pass with a look each period.
  void Watch(int64_t time_ns, int64_t began_ns) {
    for (const int64_t end_ns = now_ns_ + time_ns; now_ns_ < end_ns;) {
      now_ns_ += kPeriod;
      age_.Look(now_ns_, began_ns, kPeriod);
    }
  }
  // Lets time pass in which nothing of the process runs.
  void Pause(int64_t time_ns) { now_ns_ += time_ns; }
  int64_t AgeMs(int64_t began_ns) const { return age_.At(now_ns_, began_ns) / kMs; }

  StepAge age_;
  int64_t now_ns_ = 1'000'000 * kMs;
};

TEST_F(StepAgeTest, IsTheTimeSinceTheStepBeganWhileNobodyLooks) {
  EXPECT_EQ(age_.At(5'000, 0), 0);
  EXPECT_EQ(age_.At(5'000, 2'000), 3'000);
  EXPECT_EQ(age_.At(5'000, 6'000), 0);
}

TEST_F(StepAgeTest, AStepThatIsStuckAgesAsTimePasses) {
  Watch(kPeriod, 0);
  const int64_t began_ns = now_ns_ + 10 * kMs;
  Watch(30'000 * kMs, began_ns);
  EXPECT_EQ(AgeMs(began_ns), 29'990);
  now_ns_ += 100 * kMs;
  EXPECT_EQ(AgeMs(began_ns), 30'090);
}

TEST_F(StepAgeTest, APauseOfTheProcessIsNoAge) {
  Watch(kPeriod, 0);
  const int64_t began_ns = now_ns_;
  Watch(1'000 * kMs, began_ns);
  Pause(33'000 * kMs);
  EXPECT_EQ(AgeMs(began_ns), 1'500) << "whoever asks before the watchdog looks";
  age_.Look(now_ns_, began_ns, kPeriod);
  EXPECT_EQ(AgeMs(began_ns), 1'500);
  Watch(1'000 * kMs, began_ns);
  EXPECT_EQ(AgeMs(began_ns), 2'500);
}

TEST_F(StepAgeTest, AStepThatBeganDuringAPauseIsNew) {
  Watch(1'000 * kMs, 0);
  Pause(33'000 * kMs);
  const int64_t began_ns = now_ns_ - 2 * kMs;  // the watchdog has not run again
  EXPECT_EQ(AgeMs(began_ns), 0);
  Watch(1'000 * kMs, began_ns);
  EXPECT_EQ(AgeMs(began_ns), 750) << "but for the interval that the pause was in";
}

TEST_F(StepAgeTest, ASignOfLifeMakesAStepYoung) {
  Watch(kPeriod, 0);
  const int64_t began_ns = now_ns_;
  Watch(5'000 * kMs, began_ns);
  const int64_t got_on_ns = now_ns_ + 20 * kMs;
  now_ns_ += 30 * kMs;
  EXPECT_EQ(AgeMs(got_on_ns), 10);
  Watch(500 * kMs, got_on_ns);
  EXPECT_EQ(AgeMs(got_on_ns), 510);
}

TEST_F(StepAgeTest, AThrottledProcessWithAStuckEngineIsFoundAllTheSame) {
  Watch(kPeriod, 0);
  const int64_t began_ns = now_ns_;
  for (int i = 0; i < 60; ++i) {
    Pause(10'000 * kMs);
    age_.Look(now_ns_, began_ns, kPeriod);
  }
  EXPECT_EQ(AgeMs(began_ns), 60 * 500);
}

}  // namespace
}  // namespace superfluid
