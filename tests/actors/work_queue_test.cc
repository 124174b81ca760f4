#include "actors/engine/work_queue.h"

#include "gtest/gtest.h"

namespace superfluid {
namespace {

RequestKey Key(uint64_t seq, uint64_t link = 1) { return {LinkId{link}, seq}; }

Footprint Uses(std::initializer_list<uint64_t> sequences) {
  Footprint footprint;
  for (const uint64_t id : sequences) footprint.keys.push_back(WorkKey::Of(SequenceHandle{id}));
  return footprint;
}

constexpr Footprint kBarrier{.keys = {}, .shared = {}, .barrier = true};

Footprint Shares(uint64_t sequence) {
  return {.keys = {}, .shared = {WorkKey::Of(SequenceHandle{sequence})}};
}

TEST(WorkQueueTest, GivesTheOldestFirst) {
  WorkQueue queue;
  queue.AddReady(Key(1), WorkClass::kTick, {});
  queue.AddReady(Key(2), WorkClass::kTick, {});
  EXPECT_EQ(queue.Next(WorkClass::kTick), Key(1));
  queue.Remove(Key(1));
  EXPECT_EQ(queue.Next(WorkClass::kTick), Key(2));
  EXPECT_EQ(queue.Next(WorkClass::kCall), std::nullopt);
}

TEST(WorkQueueTest, WhatSharesASequenceKeepsItsOrder) {
  WorkQueue queue;
  queue.AddReady(Key(1), WorkClass::kCall, Uses({7}));
  queue.AddReady(Key(2), WorkClass::kTick, Uses({3, 7, 9}));
  queue.AddReady(Key(3), WorkClass::kTick, Uses({8}));
  EXPECT_EQ(queue.Next(WorkClass::kTick), Key(3)) << "the unrelated tick may overtake";
  queue.Remove(Key(1));
  EXPECT_EQ(queue.Next(WorkClass::kTick), Key(2));
}

TEST(WorkQueueTest, ALaneAndASequenceWithTheSameNumberAreDifferentThings) {
  WorkQueue queue;
  queue.AddReady(Key(1), WorkClass::kCall, {.keys = {WorkKey::Of(LaneTag{7})}, .shared = {}});
  queue.AddReady(Key(2), WorkClass::kTick, Uses({7}));
  EXPECT_EQ(queue.Next(WorkClass::kTick), Key(2));
}

TEST(WorkQueueTest, AReservedOpHoldsBackItsSequenceOnly) {
  WorkQueue queue;
  queue.AddReserved(Key(1), WorkClass::kOp, Uses({7}));
  queue.AddReady(Key(2), WorkClass::kTick, Uses({7}));
  queue.AddReady(Key(3), WorkClass::kCall, Uses({8}));
  EXPECT_EQ(queue.Next(WorkClass::kOp), std::nullopt) << "it is not ready";
  EXPECT_EQ(queue.Next(WorkClass::kTick), std::nullopt);
  EXPECT_EQ(queue.Next(WorkClass::kCall), Key(3));
  queue.MakeReady(Key(1));
  EXPECT_EQ(queue.Next(WorkClass::kOp), Key(1));
}

TEST(WorkQueueTest, ARunningOpIsNotOfferedAgainAndStillHoldsBack) {
  WorkQueue queue;
  queue.AddReady(Key(1), WorkClass::kOp, Uses({7}));
  queue.AddReady(Key(2), WorkClass::kTick, Uses({7}));
  queue.Begin(Key(1));
  EXPECT_TRUE(queue.Running(Key(1)));
  EXPECT_EQ(queue.Next(WorkClass::kOp), std::nullopt);
  EXPECT_EQ(queue.Next(WorkClass::kTick), std::nullopt);
  queue.Remove(Key(1));
  EXPECT_EQ(queue.Next(WorkClass::kTick), Key(2));
}

TEST(WorkQueueTest, ABarrierWaitsForAllAndAllWaitForIt) {
  WorkQueue queue;
  queue.AddReady(Key(1), WorkClass::kTick, {});
  queue.AddReady(Key(2), WorkClass::kCall, kBarrier);
  queue.AddReady(Key(3), WorkClass::kTick, {});
  EXPECT_EQ(queue.Next(WorkClass::kCall), std::nullopt);
  queue.Remove(Key(1));
  EXPECT_EQ(queue.Next(WorkClass::kTick), std::nullopt);
  EXPECT_EQ(queue.Next(WorkClass::kCall), Key(2));
}

TEST(WorkQueueTest, WhatOnlyUsesAThingRunsBesideOthersThatOnlyUseIt) {
  WorkQueue queue;
  queue.AddReserved(Key(1), WorkClass::kCall, Shares(7));
  queue.AddReady(Key(2), WorkClass::kTick, Shares(7));
  EXPECT_EQ(queue.Next(WorkClass::kTick), Key(2));
}

TEST(WorkQueueTest, WhatChangesAThingWaitsForThoseThatUseItAndTheyForIt) {
  WorkQueue queue;
  queue.AddReserved(Key(1), WorkClass::kCall, Shares(7));
  queue.AddReady(Key(2), WorkClass::kOp, Uses({7}));
  queue.AddReady(Key(3), WorkClass::kTick, Shares(7));
  EXPECT_EQ(queue.Next(), WorkQueue::Candidates());
  queue.Remove(Key(1));
  EXPECT_EQ(queue.Next(), (WorkQueue::Candidates{std::nullopt, std::nullopt, Key(2)}));
  queue.Remove(Key(2));
  EXPECT_EQ(queue.Next(WorkClass::kTick), Key(3));
}

TEST(WorkQueueTest, SaysWhetherAnythingIsReady) {
  WorkQueue queue;
  queue.AddReserved(Key(1), WorkClass::kOp, {});
  EXPECT_FALSE(queue.AnyReady());
  queue.MakeReady(Key(1));
  EXPECT_TRUE(queue.AnyReady());
  queue.Begin(Key(1));
  EXPECT_FALSE(queue.AnyReady());
}

// A chain in which each request only has something in common with the one before it.
TEST(WorkQueueTest, WhatIsBehindABlockedRequestOfAChainIsBlockedToo) {
  WorkQueue queue;
  queue.AddReserved(Key(1), WorkClass::kOp, Uses({1}));
  for (uint64_t i = 1; i < 1000; ++i) {
    queue.AddReady(Key(1 + i), WorkClass::kTick, Uses({i, i + 1}));
  }
  EXPECT_EQ(queue.Next(WorkClass::kTick), std::nullopt);
  queue.Remove(Key(1));
  EXPECT_EQ(queue.Next(WorkClass::kTick), Key(2));
}

TEST(WorkQueueTest, AnswersForAllClassesAtOnce) {
  WorkQueue queue;
  queue.AddReady(Key(1), WorkClass::kTick, Uses({1}));
  queue.AddReady(Key(2), WorkClass::kCall, Uses({1}));
  queue.AddReady(Key(3), WorkClass::kCall, Uses({2}));
  queue.AddReady(Key(4), WorkClass::kOp, Uses({3}));
  const WorkQueue::Candidates next = queue.Next();
  EXPECT_EQ(next, (WorkQueue::Candidates{Key(1), Key(3), Key(4)}));
  queue.Begin(Key(4));
  EXPECT_EQ(queue.Next(WorkClass::kOp), std::nullopt);
}

TEST(WorkQueueTest, KnowsWhatALinkHasOpen) {
  WorkQueue queue;
  queue.AddReady(Key(1, 1), WorkClass::kTick, {});
  queue.AddReady(Key(1, 2), WorkClass::kCall, {});
  queue.AddReserved(Key(2, 1), WorkClass::kOp, {});
  EXPECT_EQ(queue.KeysOf(LinkId{1}), (std::vector{Key(1, 1), Key(2, 1)}));
  queue.Remove(Key(9, 9));
  EXPECT_TRUE(queue.Contains(Key(1, 2)));
}

}  // namespace
}  // namespace superfluid
