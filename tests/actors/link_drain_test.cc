#include "actors/dispatch/link_drain.h"

#include "actors/dispatch/link_session.h"
#include "gtest/gtest.h"

namespace superfluid {
namespace {

TEST(LinkDrainTest, CountsWhatWasOpenAndWhatWasCancelled) {
  LinkDrain drain;
  EXPECT_FALSE(drain.active());
  drain.Begin(9, 3, LinkDrain::kNoDeadline);
  drain.NoteEnd(CancelReason::kNone);
  drain.NoteEnd(CancelReason::kRequested);
  EXPECT_FALSE(drain.TakeResult(1).has_value()) << "one is open";
  drain.NoteEnd(CancelReason::kRequested);
  const auto result = drain.TakeResult(0);
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->reply_to, 9u);
  EXPECT_EQ(result->here.finished, 1u);
  EXPECT_EQ(result->here.cancelled, 2u);
  EXPECT_FALSE(drain.TakeResult(0).has_value()) << "it is told once";
}

TEST(LinkDrainTest, IsCutByItsOwnCancelsAlone) {
  LinkDrain drain;
  drain.Begin(1, 2, LinkDrain::kNoDeadline);
  drain.NoteEnd(CancelReason::kRequested);
  drain.NoteEnd(CancelReason::kDeadline);
  EXPECT_FALSE(drain.TakeResult(0)->here.cut);
  drain.Begin(2, 2, LinkDrain::kNoDeadline);
  drain.NoteEnd(CancelReason::kDraining);
  drain.NoteEnd(CancelReason::kNone);
  EXPECT_TRUE(drain.TakeResult(0)->here.cut);
}

TEST(LinkDrainTest, ATakeOverKeepsTheAnswerTheCountsAndTheEarlierDeadline) {
  LinkDrain drain;
  EXPECT_EQ(drain.Begin(9, 2, 1000), 1000);
  const uint64_t number = drain.number();
  drain.NoteEnd(CancelReason::kRequested);
  EXPECT_EQ(drain.Begin(0, 1, LinkDrain::kNoDeadline), std::nullopt);
  EXPECT_EQ(drain.Begin(0, 1, 2000), std::nullopt);
  EXPECT_EQ(drain.Begin(0, 1, 500), 500);
  EXPECT_EQ(drain.number(), number);
  const auto result = drain.TakeResult(0);
  EXPECT_EQ(result->reply_to, 9u);
  EXPECT_EQ(result->here.finished + result->here.cancelled, 2u);
}

TEST(LinkDrainTest, WaitsForOtherLinksAndAddsWhatTheyCounted) {
  LinkDrain drain;
  drain.Begin(9, 0, LinkDrain::kNoDeadline);
  drain.WaitForOthers();
  EXPECT_FALSE(drain.TakeResult(0).has_value());
  drain.ResumeAfterOthers({.finished = 4, .cancelled = 5});
  const auto result = drain.TakeResult(0);
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->here.finished, 0u);
  EXPECT_EQ(result->everywhere.finished, 4u);
  EXPECT_EQ(result->everywhere.cancelled, 5u);
}

TEST(LinkDrainTest, ASecondDrainHasItsOwnNumberAndCounts) {
  LinkDrain drain;
  drain.Begin(1, 1, LinkDrain::kNoDeadline);
  drain.NoteEnd(CancelReason::kRequested);
  drain.TakeResult(0);
  const uint64_t number = drain.number();
  drain.NoteEnd(CancelReason::kRequested);  // between drains nothing is counted
  drain.Begin(2, 2, LinkDrain::kNoDeadline);
  EXPECT_NE(drain.number(), number);
  EXPECT_EQ(drain.TakeResult(0)->here.cancelled, 0u);
}

TEST(LinkSessionTest, AClaimIsGrantedOrEnds) {
  LinkSession session;
  EXPECT_TRUE(session.handles_frames());
  session.Claim(linkw::Role::kDriver);
  EXPECT_FALSE(session.handles_frames()) << "the role is not decided";
  EXPECT_FALSE(session.drove());
  session.Grant(5);
  EXPECT_TRUE(session.drove());
  EXPECT_EQ(session.open_since_ns(), 5);
  EXPECT_TRUE(session.End());
  EXPECT_FALSE(session.End());
  EXPECT_FALSE(session.handles_frames());
  EXPECT_TRUE(session.drove()) << "the engine may still hold something of it";
}

TEST(LinkSessionTest, AnObserverNeverDrove) {
  LinkSession session;
  session.Claim(linkw::Role::kObserver);
  session.Grant(5);
  session.BeginDrain(0, 0, LinkDrain::kNoDeadline);
  EXPECT_EQ(session.phase(), LinkPhase::kDraining);
  EXPECT_TRUE(session.handles_frames());
  EXPECT_FALSE(session.drove());
}

}  // namespace
}  // namespace superfluid
