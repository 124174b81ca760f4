#include "tools/ctl/base/patience.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

namespace superfluid::ctl {
namespace {

using linkw::EngineState;
using testing::HasSubstr;

constexpr absl::Duration kPatience = absl::Seconds(10);

linkw::Pong PongOf(EngineState state, absl::Duration step_age, uint64_t steps) {
  linkw::Pong pong;
  pong.engine_state = state;
  pong.step_age_us = static_cast<uint64_t>(absl::ToInt64Microseconds(step_age));
  pong.engine_steps = steps;
  return pong;
}

std::string Why(const linkw::Pong& pong, const std::optional<linkw::Pong>& before = std::nullopt) {
  return WhyItDoesNotWork(pong, before, kPatience);
}

TEST(WhyItDoesNotWorkTest, ABusyEngineWorksHoweverLongItsStep) {
  const linkw::Pong busy = PongOf(EngineState::kBusy, absl::Seconds(25), 7);
  EXPECT_EQ(Why(busy), "");
  EXPECT_EQ(Why(busy, busy), "");
}

TEST(WhyItDoesNotWorkTest, AStallCountsOnceItIsAsLongAsTheWait) {
  EXPECT_EQ(Why(PongOf(EngineState::kStalled, absl::Seconds(2), 7)), "");
  EXPECT_THAT(Why(PongOf(EngineState::kStalled, absl::Seconds(9), 7)),
              HasSubstr("stalled, in one step for 9.00 s"));
}

TEST(WhyItDoesNotWorkTest, AFailedEngineDoesNot) {
  EXPECT_EQ(Why(PongOf(EngineState::kFailed, absl::ZeroDuration(), 7)), "its engine failed");
}

TEST(WhyItDoesNotWorkTest, AnIdleEngineIsGivenASecondChance) {
  const linkw::Pong idle = PongOf(EngineState::kIdle, absl::ZeroDuration(), 7);
  EXPECT_EQ(Why(idle), "");
  EXPECT_EQ(Why(idle, idle), "it has nothing to do");
  EXPECT_EQ(Why(idle, PongOf(EngineState::kIdle, absl::ZeroDuration(), 6)), "") << "it went on";
}

TEST(WhyItDoesNotWorkTest, AnOpenOpIsWork) {
  linkw::Pong copying = PongOf(EngineState::kIdle, absl::ZeroDuration(), 7);
  copying.open_ops = 1;
  EXPECT_EQ(Why(copying, copying), "");
}

}  // namespace
}  // namespace superfluid::ctl
