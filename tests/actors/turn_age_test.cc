#include "actors/supervision/turn_age.h"

#include "gtest/gtest.h"

namespace superfluid {
namespace {

constexpr int64_t kPeriod = 100;
constexpr bool kInStep = true;

class TurnAgeTest : public testing::Test {
 protected:
  int64_t Look(int64_t now_ns, uint64_t turn, bool in_step = false) {
    return age_.Look(now_ns, turn, in_step, kPeriod);
  }
  TurnAge age_;
};

TEST_F(TurnAgeTest, ATurnAgesFromTheLookThatFindsIt) {
  EXPECT_EQ(Look(1000, 7), 0);
  EXPECT_EQ(Look(1100, 7), 100);
  EXPECT_EQ(Look(1200, 7), 200);
}

TEST_F(TurnAgeTest, EachTurnIsAnother) {
  Look(1000, 7);
  EXPECT_EQ(Look(1100, 9), 0);
  EXPECT_EQ(Look(1200, 9), 100);
}

TEST_F(TurnAgeTest, WhoRestsDoesNotAge) {
  Look(1000, 8);
  EXPECT_EQ(Look(1100, 8), 0);
  EXPECT_EQ(Look(1200, 9), 0);
}

TEST_F(TurnAgeTest, AStepOfTheEngineIsWatchedElsewhere) {
  Look(1000, 7);
  EXPECT_EQ(Look(1100, 7, kInStep), 0);
  EXPECT_EQ(Look(1200, 7), 0) << "it counts from the end of the step";
  EXPECT_EQ(Look(1300, 7), 100);
}

TEST_F(TurnAgeTest, APauseOfTheWholeProcessDoesNotCount) {
  Look(1000, 7);
  EXPECT_LE(Look(90000, 7), StepAge::kMostPeriods * kPeriod);
}

}  // namespace
}  // namespace superfluid
