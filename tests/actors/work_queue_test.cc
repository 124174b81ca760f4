#include "actors/engine/work_queue.h"

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

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

TEST(WorkQueueTest, AFootprintsMemoryIsUsedAgain) {
  WorkQueue queue;
  Footprint large = Uses({1, 2, 3});
  large.barrier = true;
  const size_t room = large.keys.capacity();
  queue.AddReady(Key(1), WorkClass::kTick, std::move(large));
  queue.Remove(Key(1));
  const Footprint spare = queue.SpareFootprint();
  EXPECT_GE(spare.keys.capacity(), room);
  EXPECT_TRUE(spare.keys.empty());
  EXPECT_FALSE(spare.barrier);
  EXPECT_EQ(queue.SpareFootprint().keys.capacity(), 0u);
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

// A tick of this many lanes, each with its sequence.
Footprint OfLanes(uint64_t lanes) {
  Footprint footprint;
  for (uint64_t i = 1; i <= lanes; ++i) {
    footprint.keys.push_back(WorkKey::Of(LaneTag{i}));
    footprint.keys.push_back(WorkKey::Of(SequenceHandle{i}));
  }
  return footprint;
}

// As many ticks as a link may have, and a call behind them that waits for the last.
TEST(WorkQueueCostTest, ABlockedCallBehindManyTicksIsNotHeldAgainstThemAgainAndAgain) {
  constexpr uint64_t kTicks = 1023;
  constexpr uint64_t kKeys = 512;
  WorkQueue queue;
  for (uint64_t i = 1; i <= kTicks; ++i) {
    queue.AddReady({LinkId{1}, i}, WorkClass::kTick, OfLanes(kKeys / 2));
  }
  const RequestKey call{LinkId{1}, kTicks + 1};
  queue.AddReady(call, WorkClass::kCall,
                 {.keys = {WorkKey::Of(SequenceHandle{kKeys / 2})}, .shared = {}});
  EXPECT_EQ(queue.Next(WorkClass::kCall), std::nullopt);
  EXPECT_LE(queue.keys_compared(), kKeys) << "it waits for the tick in front of it";
  for (uint64_t i = 1; i <= kTicks; ++i) {
    const WorkQueue::Candidates next = queue.Next();
    ASSERT_EQ(next.at(static_cast<size_t>(WorkClass::kTick)), (RequestKey{LinkId{1}, i}));
    ASSERT_EQ(next.at(static_cast<size_t>(WorkClass::kCall)), std::nullopt);
    queue.Remove({LinkId{1}, i});
  }
  EXPECT_EQ(queue.Next(WorkClass::kCall), call);
  EXPECT_LE(queue.keys_compared(), 2 * kKeys) << "for 1023 decisions";
}

// Behind an op that goes on for long, nothing may begin that touches what it touches.
TEST(WorkQueueCostTest, ManyTicksThatWaitForOneOpAreEachLookedAtOnce) {
  constexpr uint64_t kTicks = 100;
  constexpr uint64_t kKeys = 512;
  WorkQueue queue;
  const RequestKey op{LinkId{1}, 1};
  queue.AddReady(op, WorkClass::kOp, {.keys = {WorkKey::Of(SequenceHandle{1})}, .shared = {}});
  queue.Begin(op);
  for (uint64_t i = 2; i <= kTicks + 1; ++i) {
    queue.AddReady({LinkId{1}, i}, WorkClass::kTick, OfLanes(kKeys / 2));
  }
  EXPECT_EQ(queue.Next(WorkClass::kTick), std::nullopt);
  const uint64_t compared = queue.keys_compared();
  EXPECT_LE(compared, kTicks * kKeys);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(queue.Next(WorkClass::kTick), std::nullopt);
  EXPECT_EQ(queue.keys_compared(), compared);
  queue.Remove(op);
  EXPECT_EQ(queue.Next(WorkClass::kTick), (RequestKey{LinkId{1}, 2}));
  EXPECT_LE(queue.keys_compared(), compared) << "nothing is in front of it";
}

// What a request waited for may go out of turn; another one in front may still stop it.
TEST(WorkQueueCostTest, WhatARequestWaitsForIsFoundAnew) {
  WorkQueue queue;
  const Footprint sequence = {.keys = {WorkKey::Of(SequenceHandle{1})}, .shared = {}};
  for (uint64_t i = 1; i <= 3; ++i) {
    queue.AddReserved({LinkId{1}, i}, WorkClass::kOp, sequence);
  }
  queue.AddReady({LinkId{1}, 4}, WorkClass::kTick, sequence);
  for (const uint64_t gone : {3, 1, 2}) {
    EXPECT_EQ(queue.Next(WorkClass::kTick), std::nullopt);
    queue.Remove({LinkId{1}, gone});
  }
  EXPECT_EQ(queue.Next(WorkClass::kTick), (RequestKey{LinkId{1}, 4}));
}

// Random queues, against the plain rule.
TEST(WorkQueueCostTest, DecidesAsThePlainRuleDoes) {
  std::minstd_rand random(7);
  const auto keys = [&random](size_t most) {
    std::vector<WorkKey> all(random() % (most + 1));
    for (WorkKey& key : all) key = WorkKey::Of(SequenceHandle{random() % 12 + 1});
    return all;
  };
  struct Entry {
    RequestKey key;
    WorkClass work;
    Footprint footprint;
    bool ready;
  };
  const auto conflict = [](const Footprint& a, const Footprint& b) {
    if (a.barrier || b.barrier) return true;
    const auto meet = [](const std::vector<WorkKey>& some, const std::vector<WorkKey>& others) {
      return std::any_of(some.begin(), some.end(), [&others](const WorkKey& key) {
        return std::find(others.begin(), others.end(), key) != others.end();
      });
    };
    return meet(a.keys, b.keys) || meet(a.keys, b.shared) || meet(a.shared, b.keys);
  };
  for (int round = 0; round < 200; ++round) {
    WorkQueue queue;
    std::vector<Entry> plain;
    for (uint64_t seq = 1; seq <= 60; ++seq) {
      const bool ready = random() % 4 != 0;
      Entry entry{
          .key = {LinkId{1}, seq},
          .work = static_cast<WorkClass>(random() % kWorkClasses),
          .footprint = {.keys = keys(10), .shared = keys(10), .barrier = random() % 20 == 0},
          .ready = ready};
      ready ? queue.AddReady(entry.key, entry.work, entry.footprint)
            : queue.AddReserved(entry.key, entry.work, entry.footprint);
      plain.push_back(std::move(entry));
      WorkQueue::Candidates expected;
      for (size_t i = 0; i < plain.size(); ++i) {
        auto& first = expected.at(static_cast<size_t>(plain[i].work));
        const auto end = plain.begin() + static_cast<std::ptrdiff_t>(i);
        if (first || !plain[i].ready || std::any_of(plain.begin(), end, [&](const Entry& other) {
              return conflict(other.footprint, plain[i].footprint);
            })) {
          continue;
        }
        first = plain[i].key;
      }
      ASSERT_EQ(queue.Next(), expected) << "round " << round << ", " << seq;
      if (random() % 2 == 0) {
        const auto gone = plain.begin() + static_cast<std::ptrdiff_t>(random() % plain.size());
        queue.Remove(gone->key);
        plain.erase(gone);
      }
    }
  }
}

}  // namespace
}  // namespace superfluid
