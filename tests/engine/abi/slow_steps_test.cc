#include "engine/abi/slow_steps.h"

#include <gtest/gtest.h>

#include <vector>

namespace superfluid {
namespace {

constexpr absl::Duration kSaid = absl::Milliseconds(20);
constexpr absl::Duration kSlow = absl::Milliseconds(300);

class SlowStepsTest : public testing::Test {
 protected:
  std::vector<SlowStep> reported_;
  SlowSteps steps_{kSaid, [this](const SlowStep& step) { reported_.push_back(step); }};
};

TEST_F(SlowStepsTest, AnEngineThatIsAlwaysSlowIsReportedOnce) {
  for (int i = 0; i < 100; ++i) steps_.Add(kSlow, /*asked_whether_cancelled=*/false);
  ASSERT_EQ(reported_.size(), 1u);
  EXPECT_EQ(reported_[0].took, kSlow);
  EXPECT_EQ(reported_[0].said, kSaid);
  EXPECT_FALSE(reported_[0].asked_whether_cancelled);
}

TEST_F(SlowStepsTest, TwoSlowStepsAreNoFindingAndAThirdIs) {
  steps_.Add(kSlow, true);
  steps_.Add(kSaid, true);
  steps_.Add(kSlow, true);
  EXPECT_TRUE(reported_.empty());
  steps_.Add(kSlow, true);
  ASSERT_EQ(reported_.size(), 1u);
  EXPECT_TRUE(reported_[0].asked_whether_cancelled);
}

TEST_F(SlowStepsTest, ASlowStepNowAndThenIsTheMachines) {
  for (int i = 0; i < 100; ++i) {
    steps_.Add(kSlow, true);
    for (int other = 0; other < 10; ++other) steps_.Add(kSaid, true);
  }
  EXPECT_TRUE(reported_.empty());
}

TEST_F(SlowStepsTest, StepsAsLongAsTheEngineSaysAreNotSlow) {
  for (int i = 0; i < 100; ++i) steps_.Add(2 * kSaid, true);
  EXPECT_TRUE(reported_.empty());
}

}  // namespace
}  // namespace superfluid
