#include "actors/engine/footprint.h"

#include <utility>

#include "gtest/gtest.h"

namespace superfluid {
namespace {

class FootprintTest : public testing::Test {
 protected:
  Footprint OfCall(linkw::StateSyncCall call) const {
    return FootprintOf(linkw::StateSyncRequest{std::move(call)}, link_);
  }
  // Whether `second`, sent behind `first`, which has not begun, has to wait for it.
  static bool Waits(const Footprint& first, const Footprint& second) {
    WorkQueue queue;
    queue.AddReserved({LinkId{1}, 1}, WorkClass::kOp, first);
    queue.AddReady({LinkId{1}, 2}, WorkClass::kTick, second);
    return !queue.Next(WorkClass::kTick).has_value();
  }
  Footprint OfTick(linkw::SequenceId sequence, linkw::Lane lane = {}) {
    lane.lane_tag = linkw::LaneTag{++tag_};
    lane.sequence = sequence;
    linkw::TickSubmit tick;
    tick.plan.lanes = {lane};
    return FootprintOf(tick, link_);
  }

  EngineLink link_;
  uint64_t tag_ = 0;
  const linkw::SequenceId busy_{7};
  const linkw::SequenceId other_{8};
  // A state op of `busy_`.
  const Footprint op_ = {.keys = {WorkKey::Of(SequenceHandle{7})}, .shared = {}};
};

TEST_F(FootprintTest, WhatTouchesOtherThingsDoesNotWaitForAnOp) {
  EXPECT_FALSE(Waits(op_, FootprintOf(linkw::MatchRequest{}, link_)));
  EXPECT_FALSE(Waits(op_, FootprintOf(linkw::SeedAcquire{}, link_)));
  EXPECT_FALSE(Waits(op_, FootprintOf(linkw::SeedRelease{}, link_)));
  EXPECT_FALSE(Waits(op_, FootprintOf(linkw::StrategyRegister{}, link_)));
  EXPECT_FALSE(Waits(op_, OfCall(linkw::PublishSequence{.sequence = other_})));
  EXPECT_FALSE(Waits(op_, OfCall(linkw::AdoptSequence{.sequence = other_})));
  EXPECT_FALSE(Waits(op_, OfCall(linkw::Unpublish{})));
  EXPECT_FALSE(Waits(op_, OfCall(linkw::CacheEvict{})));
  EXPECT_FALSE(Waits(op_, OfCall(linkw::CacheEvictEntries{})));
  EXPECT_FALSE(Waits(op_, OfCall(linkw::FreeGrammar{linkw::GrammarHandle{1}})));
  EXPECT_FALSE(Waits(op_, OfCall(linkw::FreeLogitBias{linkw::LogitBiasHandle{1}})));
  EXPECT_FALSE(Waits(op_, OfCall(linkw::MediaRelease{linkw::MediaHandle{1}})));
  EXPECT_FALSE(Waits(op_, OfCall(linkw::Embed{})));
  EXPECT_FALSE(Waits(op_, OfTick(other_)));
  EXPECT_FALSE(Waits(op_, OfTick({})));
}

TEST_F(FootprintTest, WhatTouchesTheSameSequenceWaits) {
  EXPECT_TRUE(Waits(op_, OfTick(busy_)));
  EXPECT_TRUE(Waits(op_, OfCall(linkw::Trim{.sequence = busy_})));
  EXPECT_TRUE(Waits(op_, OfCall(linkw::Fork{.parent = busy_})));
  EXPECT_TRUE(Waits(op_, OfCall(linkw::PublishSequence{.sequence = busy_})));
  EXPECT_TRUE(Waits(op_, OfCall(linkw::AdoptSequence{.sequence = busy_})));
}

TEST_F(FootprintTest, AdaptersConcernEverybody) {
  for (const Footprint& adapter : {OfCall(linkw::LoraLoad{}), OfCall(linkw::LoraUnload{})}) {
    EXPECT_TRUE(Waits(op_, adapter));
    EXPECT_TRUE(Waits(adapter, OfTick(other_)));
    EXPECT_TRUE(Waits(adapter, OfCall(linkw::GetLoraId{})));
  }
}

TEST_F(FootprintTest, TheCacheIsUsedTogetherAndChangedInOrder) {
  const Footprint match = FootprintOf(linkw::MatchRequest{}, link_);
  const Footprint publish = OfCall(linkw::PublishSequence{.sequence = busy_});
  const Footprint evict = OfCall(linkw::CacheEvict{});
  EXPECT_FALSE(Waits(match, match));
  EXPECT_TRUE(Waits(publish, match));
  EXPECT_TRUE(Waits(match, publish));
  EXPECT_TRUE(Waits(evict, match));
  EXPECT_TRUE(Waits(publish, evict));
}

TEST_F(FootprintTest, AFirstInputComesInOrderWithLeases) {
  const Footprint acquire = FootprintOf(linkw::SeedAcquire{}, link_);
  const Footprint release = FootprintOf(linkw::SeedRelease{}, link_);
  link_.maybe_empty.insert(static_cast<uint64_t>(other_));
  EXPECT_TRUE(Waits(acquire, OfTick({})));
  EXPECT_TRUE(Waits(acquire, OfTick(other_)));
  EXPECT_FALSE(Waits(acquire, OfTick(busy_))) << "it has tokens";
  EXPECT_TRUE(Waits(release, OfTick({})));
  EXPECT_TRUE(Waits(OfTick({}), release));
  EXPECT_FALSE(Waits(OfTick({}), OfTick({})));
  EXPECT_TRUE(Waits(release, OfCall(linkw::CacheEvict{})));
}

// A tick may stand behind a TRIM that has not run.
TEST_F(FootprintTest, TheInputBehindATrimToNothingIsAFirstInput) {
  const Footprint evict = OfCall(linkw::CacheEvict{});
  const auto emptied = EmptiedBy(linkw::StateSyncRequest{linkw::Trim{.sequence = busy_}});
  ASSERT_EQ(emptied, static_cast<uint64_t>(busy_));
  link_.BeginEmptying(*emptied);
  link_.BeginEmptying(*emptied);  // a TRIM for each space
  EXPECT_TRUE(Waits(OfTick(busy_), evict));
  EXPECT_FALSE(Waits(OfTick(other_), evict));
  link_.EndEmptying(*emptied);
  EXPECT_TRUE(Waits(OfTick(busy_), evict));
  link_.EndEmptying(*emptied);
  link_.EndEmptying(*emptied);  // one that was never begun
  EXPECT_FALSE(Waits(OfTick(busy_), evict));
  EXPECT_EQ(EmptiedBy(linkw::StateSyncRequest{linkw::Trim{.sequence = busy_, .new_len = 16}}),
            std::nullopt);
  EXPECT_EQ(EmptiedBy(linkw::SeedRelease{}), std::nullopt);
}

TEST_F(FootprintTest, HandlesAreFreedAfterTheTicksThatUseThem) {
  linkw::Lane lane;
  lane.grammar_handle = linkw::GrammarHandle{3};
  lane.logit_bias_handle = linkw::LogitBiasHandle{4};
  const Footprint tick = OfTick(other_, lane);
  EXPECT_TRUE(Waits(tick, OfCall(linkw::FreeGrammar{linkw::GrammarHandle{3}})));
  EXPECT_FALSE(Waits(tick, OfCall(linkw::FreeGrammar{linkw::GrammarHandle{4}})));
  EXPECT_TRUE(Waits(tick, OfCall(linkw::FreeLogitBias{linkw::LogitBiasHandle{4}})));
  EXPECT_FALSE(Waits(tick, OfTick(busy_, lane))) << "both only use them";
  const Footprint bind = OfCall(
      linkw::MediaBind{.lane_tag = linkw::LaneTag{1000}, .media_handle = linkw::MediaHandle{5}});
  EXPECT_TRUE(Waits(bind, OfCall(linkw::MediaRelease{linkw::MediaHandle{5}})));
  EXPECT_FALSE(Waits(bind, OfCall(linkw::MediaRelease{linkw::MediaHandle{6}})));
}

}  // namespace
}  // namespace superfluid
