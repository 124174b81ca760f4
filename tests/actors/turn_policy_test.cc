#include "actors/engine/turn_policy.h"

#include "gtest/gtest.h"

namespace superfluid {
namespace {

constexpr int64_t kMs = 1'000'000;
constexpr TurnPolicy::Ready kAll = {true, true, true, true};
constexpr TurnPolicy::Ready kTicks = {true, false, false, false};
constexpr TurnPolicy::Ready kSpeech = {false, false, false, true};
constexpr TurnPolicy::Ready kTicksAndSpeech = {true, false, false, true};

class TurnPolicyTest : public testing::Test {
 protected:
  using Costs = std::array<int64_t, kTurns>;

  // Takes one turn of what is ready; its micro-step costs so much.
  std::optional<Turn> Take(const TurnPolicy::Ready& ready, const Costs& costs) {
    const std::optional<Turn> turn = policy_.Next(ready);
    if (turn) {
      policy_.Charge(*turn, costs.at(Index(*turn)));
      time_.at(Index(*turn)) += costs.at(Index(*turn));
    }
    return turn;
  }
  int64_t TimeOf(Turn turn) const { return time_.at(Index(turn)); }
  static size_t Index(Turn turn) { return static_cast<size_t>(turn); }

  TurnPolicy policy_;
  Costs time_{};
};

TEST_F(TurnPolicyTest, NothingReadyIsNoTurn) { EXPECT_EQ(policy_.Next({}), std::nullopt); }

TEST_F(TurnPolicyTest, ATickAfterAnIdleMomentIsAlone) {
  EXPECT_EQ(Take(kTicks, {400 * kMs}), Turn::kTick);
  EXPECT_TRUE(policy_.awaits_tick());
  EXPECT_EQ(policy_.Next({}), std::nullopt);
  EXPECT_FALSE(policy_.awaits_tick());
  EXPECT_EQ(Take(kTicksAndSpeech, {400 * kMs, 0, 0, 10 * kMs}), Turn::kTick)
      << "it owes nothing for the tick before";
}

TEST_F(TurnPolicyTest, TicksAloneRunBackToBack) {
  for (int i = 0; i < 10; ++i) EXPECT_EQ(Take(kTicks, {20 * kMs}), Turn::kTick);
}

TEST_F(TurnPolicyTest, QueuedTicksAndATranscriptionShareTheTimeEvenly) {
  for (int i = 0; i < 10'000; ++i) Take(kTicksAndSpeech, {500 * kMs, 0, 0, 10 * kMs});
  EXPECT_NEAR(static_cast<double>(TimeOf(Turn::kTick)),
              static_cast<double>(TimeOf(Turn::kTranscription)), 500 * kMs);
}

TEST_F(TurnPolicyTest, LongStepsDoNotTakeTheTimeOfShortQueuedTicks) {
  for (int i = 0; i < 10'000; ++i) Take(kTicksAndSpeech, {kMs, 0, 0, 200 * kMs});
  EXPECT_NEAR(static_cast<double>(TimeOf(Turn::kTick)),
              static_cast<double>(TimeOf(Turn::kTranscription)), 200 * kMs);
}

TEST_F(TurnPolicyTest, AllKindsShareTheTimeEvenly) {
  for (int i = 0; i < 40'000; ++i) Take(kAll, {50 * kMs, 7 * kMs, 10 * kMs, 20 * kMs});
  for (const Turn turn : {Turn::kCall, Turn::kOp, Turn::kTranscription}) {
    EXPECT_NEAR(static_cast<double>(TimeOf(turn)) / static_cast<double>(TimeOf(Turn::kTick)), 1.0,
                0.01);
  }
}

// ALWAYS-8: a daemon that sends a tick, waits for its result and sends the next.
TEST_F(TurnPolicyTest, ATickThatComesAloneWaitsForOneStepHoweverMuchTicksHaveHad) {
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(Take(kTicksAndSpeech, {500 * kMs, 0, 0, kMs}), Turn::kTick);
    EXPECT_EQ(Take(kSpeech, {500 * kMs, 0, 0, kMs}), Turn::kTranscription);
  }
}

TEST_F(TurnPolicyTest, ATickThatQueuesOnceOwesNothingForThoseThatCameAlone) {
  const Costs costs = {20 * kMs, 0, 0, kMs};
  for (int i = 0; i < 1000; ++i) {
    Take(kTicksAndSpeech, costs);
    Take(kSpeech, costs);
  }
  Take(kTicksAndSpeech, costs);
  const int64_t before = TimeOf(Turn::kTranscription);
  while (Take(kTicksAndSpeech, costs) != Turn::kTick) {
  }
  EXPECT_LE(TimeOf(Turn::kTranscription) - before, 21 * kMs) << "as long as the tick in front took";
}

TEST_F(TurnPolicyTest, ATranscriptionThatComesHasNoArrears) {
  const Costs costs = {100 * kMs, 0, 0, 10 * kMs};
  for (int i = 0; i < 1000; ++i) Take(kTicks, costs);
  int64_t until_tick = 0;
  while (Take(kTicksAndSpeech, costs) != Turn::kTick) until_tick += 10 * kMs;
  EXPECT_GE(until_tick, 10 * kMs);
  EXPECT_LE(until_tick, 110 * kMs) << "what the last tick took, at most";
}

TEST_F(TurnPolicyTest, AfterAVeryLongCallTheNextOneWaitsForASecondAtMost) {
  const TurnPolicy::Ready ready = {false, true, false, true};
  EXPECT_EQ(Take(ready, {0, 60'000 * kMs, 0, 10 * kMs}), Turn::kCall);
  while (Take(ready, {0, kMs, 0, 10 * kMs}) != Turn::kCall) {
  }
  EXPECT_GE(TimeOf(Turn::kTranscription), 900 * kMs);
  EXPECT_LE(TimeOf(Turn::kTranscription), 1100 * kMs);
}

TEST_F(TurnPolicyTest, StepsThatTakeNoTimeTakeTurnsAllTheSame) {
  std::array<int, kTurns> served{};
  for (int i = 0; i < 4000; ++i) ++served.at(Index(*Take(kAll, {})));
  EXPECT_EQ(served, (std::array<int, kTurns>{1000, 1000, 1000, 1000}));
}

}  // namespace
}  // namespace superfluid
