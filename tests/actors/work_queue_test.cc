#include "actors/work_queue.h"

#include "actors/turn_policy.h"
#include "gtest/gtest.h"

namespace superfluid {
namespace {

RequestKey Key(uint64_t seq, uint64_t link = 1) { return {LinkId{link}, seq}; }

Footprint Uses(std::initializer_list<uint64_t> sequences) {
  Footprint footprint;
  for (const uint64_t id : sequences) footprint.keys.push_back(WorkKey::Of(SequenceHandle{id}));
  return footprint;
}

constexpr Footprint kBarrier{.keys = {}, .barrier = true};

TEST(WorkQueueTest, GivesTheOldestFirst) {
  WorkQueue queue;
  queue.Add(Key(1), WorkClass::kTick, {}, true);
  queue.Add(Key(2), WorkClass::kTick, {}, true);
  EXPECT_EQ(queue.Next(WorkClass::kTick), Key(1));
  queue.Remove(Key(1));
  EXPECT_EQ(queue.Next(WorkClass::kTick), Key(2));
  EXPECT_EQ(queue.Next(WorkClass::kCall), std::nullopt);
}

TEST(WorkQueueTest, WhatSharesASequenceKeepsItsOrder) {
  WorkQueue queue;
  queue.Add(Key(1), WorkClass::kCall, Uses({7}), true);
  queue.Add(Key(2), WorkClass::kTick, Uses({3, 7, 9}), true);
  queue.Add(Key(3), WorkClass::kTick, Uses({8}), true);
  EXPECT_EQ(queue.Next(WorkClass::kTick), Key(3)) << "the unrelated tick may overtake";
  queue.Remove(Key(1));
  EXPECT_EQ(queue.Next(WorkClass::kTick), Key(2));
}

TEST(WorkQueueTest, ALaneAndASequenceWithTheSameNumberAreDifferentThings) {
  WorkQueue queue;
  queue.Add(Key(1), WorkClass::kCall, {.keys = {WorkKey::Of(LaneTag{7})}}, true);
  queue.Add(Key(2), WorkClass::kTick, Uses({7}), true);
  EXPECT_EQ(queue.Next(WorkClass::kTick), Key(2));
}

TEST(WorkQueueTest, AReservedOpHoldsBackItsSequenceOnly) {
  WorkQueue queue;
  queue.Add(Key(1), WorkClass::kOp, Uses({7}), false);
  queue.Add(Key(2), WorkClass::kTick, Uses({7}), true);
  queue.Add(Key(3), WorkClass::kCall, Uses({8}), true);
  EXPECT_EQ(queue.Next(WorkClass::kOp), std::nullopt) << "it is not ready";
  EXPECT_EQ(queue.Next(WorkClass::kTick), std::nullopt);
  EXPECT_EQ(queue.Next(WorkClass::kCall), Key(3));
  queue.MakeReady(Key(1));
  EXPECT_EQ(queue.Next(WorkClass::kOp), Key(1));
}

TEST(WorkQueueTest, ARunningOpIsNotOfferedAgainAndStillHoldsBack) {
  WorkQueue queue;
  queue.Add(Key(1), WorkClass::kOp, Uses({7}), true);
  queue.Add(Key(2), WorkClass::kTick, Uses({7}), true);
  queue.Begin(Key(1));
  EXPECT_TRUE(queue.Running(Key(1)));
  EXPECT_EQ(queue.Next(WorkClass::kOp), std::nullopt);
  EXPECT_EQ(queue.Next(WorkClass::kTick), std::nullopt);
  EXPECT_EQ(queue.waiting(), 1);
  queue.Remove(Key(1));
  EXPECT_EQ(queue.Next(WorkClass::kTick), Key(2));
}

TEST(WorkQueueTest, ABarrierWaitsForAllAndAllWaitForIt) {
  WorkQueue queue;
  queue.Add(Key(1), WorkClass::kTick, {}, true);
  queue.Add(Key(2), WorkClass::kCall, kBarrier, true);
  queue.Add(Key(3), WorkClass::kTick, {}, true);
  EXPECT_EQ(queue.Next(WorkClass::kCall), std::nullopt);
  queue.Remove(Key(1));
  EXPECT_EQ(queue.Next(WorkClass::kTick), std::nullopt);
  EXPECT_EQ(queue.Next(WorkClass::kCall), Key(2));
}

// A chain in which each request only has something in common with the one before it.
TEST(WorkQueueTest, WhatIsBehindABlockedRequestOfAChainIsBlockedToo) {
  WorkQueue queue;
  queue.Add(Key(1), WorkClass::kOp, Uses({1}), false);
  for (uint64_t i = 1; i < 1000; ++i) {
    queue.Add(Key(1 + i), WorkClass::kTick, Uses({i, i + 1}), true);
  }
  EXPECT_EQ(queue.Next(WorkClass::kTick), std::nullopt);
  queue.Remove(Key(1));
  EXPECT_EQ(queue.Next(WorkClass::kTick), Key(2));
}

TEST(WorkQueueTest, AnswersForAllClassesAtOnce) {
  WorkQueue queue;
  queue.Add(Key(1), WorkClass::kTick, Uses({1}), true);
  queue.Add(Key(2), WorkClass::kCall, Uses({1}), true);
  queue.Add(Key(3), WorkClass::kCall, Uses({2}), true);
  queue.Add(Key(4), WorkClass::kOp, Uses({3}), true);
  const WorkQueue::Candidates next = queue.Next();
  EXPECT_EQ(next, (WorkQueue::Candidates{Key(1), Key(3), Key(4)}));
  queue.Begin(Key(4));
  EXPECT_EQ(queue.Next(WorkClass::kOp), std::nullopt);
}

TEST(WorkQueueTest, KnowsWhatALinkHasOpen) {
  WorkQueue queue;
  queue.Add(Key(1, 1), WorkClass::kTick, {}, true);
  queue.Add(Key(1, 2), WorkClass::kCall, {}, true);
  queue.Add(Key(2, 1), WorkClass::kOp, {}, false);
  EXPECT_EQ(queue.KeysOf(LinkId{1}), (std::vector{Key(1, 1), Key(2, 1)}));
  queue.Remove(Key(9, 9));
  EXPECT_TRUE(queue.Contains(Key(1, 2)));
}

constexpr TurnPolicy::Ready kAll = {true, true, true, true};

TEST(TurnPolicyTest, TicksNeverRunTwiceInARowWhileOthersWait) {
  TurnPolicy policy;
  EXPECT_EQ(policy.Next(kAll), Turn::kTick);
  EXPECT_NE(policy.Next(kAll), Turn::kTick);
  EXPECT_EQ(policy.Next(kAll), Turn::kTick);
}

TEST(TurnPolicyTest, ATickWaitsForOneStepAtMost) {
  TurnPolicy policy;
  EXPECT_EQ(policy.Next({false, true, true, true}), Turn::kCall);
  EXPECT_EQ(policy.Next(kAll), Turn::kTick);
}

TEST(TurnPolicyTest, TheOthersTakeTurns) {
  TurnPolicy policy;
  const TurnPolicy::Ready ready = {false, true, true, true};
  std::array<int, kTurns> served{};
  for (int i = 0; i < 30; ++i) ++served.at(static_cast<size_t>(*policy.Next(ready)));
  EXPECT_EQ(served, (std::array<int, kTurns>{0, 10, 10, 10}));
}

TEST(TurnPolicyTest, TicksAloneRunBackToBack) {
  TurnPolicy policy;
  EXPECT_EQ(policy.Next({true, false, false, false}), Turn::kTick);
  EXPECT_EQ(policy.Next({true, false, false, false}), Turn::kTick);
  EXPECT_EQ(policy.Next({}), std::nullopt);
}

}  // namespace
}  // namespace superfluid
