#include "engine/sim/sim_sequence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "engine/generation/sequence_book.h"

namespace superfluid {
namespace {

class SimSequenceTest : public ::testing::Test {
 protected:
  static void Append(SimSequence& sequence, uint64_t count, bool drawn = false) {
    ASSERT_TRUE(sequence.Ready().ok());
    for (uint64_t i = 0; i < count; ++i) {
      const auto token = static_cast<Token>((sequence.length() * 7 + 3) % 256);
      ASSERT_TRUE(sequence.Append(token, 0, drawn).ok());
    }
    EXPECT_TRUE(sequence.CheckInvariants());
  }
  static std::vector<SimDecodedRow> RowsOf(const SimSequence& sequence, TokenRange range) {
    std::vector<SimDecodedRow> rows;
    for (uint64_t at = range.start; at < range.end; ++at) {
      rows.push_back({sequence.Row(at), sequence.drawn(at)});
    }
    return rows;
  }
  static void ExpectSamePoint(SimSequence& left, SimSequence& right) {
    ASSERT_TRUE(left.Ready().ok()) << left.Ready();
    ASSERT_TRUE(right.Ready().ok()) << right.Ready();
    EXPECT_EQ(left.point().rows, right.point().rows);
    EXPECT_EQ(left.point().recurrent, right.point().recurrent);
    EXPECT_EQ(left.point().position, right.point().position);
  }

  SimBlockPool pool_{64};
  SimSequence sequence_{pool_, {}};
};

TEST_F(SimSequenceTest, GrowsByBlocks) {
  Append(sequence_, 16);
  EXPECT_EQ(pool_.live(), 1U);
  Append(sequence_, 1);
  EXPECT_EQ(pool_.live(), 2U);
  EXPECT_EQ(sequence_.length(), 17U);
  EXPECT_EQ(sequence_.LengthOf(kSimRecurrentSpace), 17U);
}

TEST_F(SimSequenceTest, OutputStartsAfterTheLastInput) {
  EXPECT_EQ(sequence_.OutputStart(), 0U);
  Append(sequence_, 3);
  EXPECT_EQ(sequence_.OutputStart(), 3U);
  Append(sequence_, 2, /*drawn=*/true);
  EXPECT_EQ(sequence_.OutputStart(), 3U);
  Append(sequence_, 1);
  EXPECT_EQ(sequence_.OutputStart(), 6U);
}

TEST_F(SimSequenceTest, CopiesShareUntilTheyWrite) {
  Append(sequence_, 20);
  SimSequence copy = sequence_;
  EXPECT_EQ(pool_.live(), 2U);
  Append(copy, 1);
  EXPECT_EQ(pool_.live(), 3U);
  Append(sequence_, 1);
  EXPECT_EQ(pool_.live(), 3U);
  ExpectSamePoint(sequence_, copy);
}

TEST_F(SimSequenceTest, TrimNeedsABoundaryOfTheSpace) {
  Append(sequence_, 40);
  EXPECT_TRUE(absl::IsInvalidArgument(sequence_.Trim(kSimKvSpace, 41)));
  EXPECT_TRUE(absl::IsInvalidArgument(sequence_.Trim(kSimRecurrentSpace, 41)));
  EXPECT_TRUE(absl::IsInvalidArgument(sequence_.Trim(kSimRecurrentSpace, 17)));
  EXPECT_TRUE(sequence_.Trim(kSimRecurrentSpace, 40).ok());
  EXPECT_TRUE(sequence_.Trim(kSimKvSpace, 17).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(sequence_.Ready()));
  EXPECT_TRUE(sequence_.Trim(kSimRecurrentSpace, 16).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(sequence_.Ready()));
  EXPECT_TRUE(sequence_.Trim(kSimKvSpace, 16).ok());
  SimSequence fresh(pool_, {});
  Append(fresh, 16);
  ExpectSamePoint(sequence_, fresh);
}

TEST_F(SimSequenceTest, RollsBackExactly) {
  Append(sequence_, 21);
  SimSequence copy = sequence_;
  sequence_.Mark();
  const uint64_t live = pool_.live();
  Append(sequence_, 50, /*drawn=*/true);
  sequence_.RollBack();
  EXPECT_TRUE(sequence_.CheckInvariants());
  EXPECT_EQ(pool_.live(), live + 1);  // its own copy of the last block
  ExpectSamePoint(sequence_, copy);
  EXPECT_EQ(sequence_.OutputStart(), 21U);
}

TEST_F(SimSequenceTest, RefusesToGrowWithoutBlocks) {
  SimBlockPool small(1);
  SimSequence sequence(small, {});
  Append(sequence, 16);
  EXPECT_TRUE(absl::IsResourceExhausted(sequence.Append(1, 0, false)));
  EXPECT_EQ(sequence.length(), 16U);
  EXPECT_TRUE(sequence.CheckInvariants());
}

TEST_F(SimSequenceTest, DemotedRowsAreFreedAndMissed) {
  Append(sequence_, 48);
  SimSequence twin = sequence_;
  const TokenRange range{8, 40};
  const auto rows = RowsOf(sequence_, range);
  const Digest provenance = sequence_.Provenance(kSimKvSpace, range);
  sequence_.Demote(kSimKvSpace, range);
  EXPECT_TRUE(sequence_.CheckInvariants());
  EXPECT_EQ(sequence_.blocks()[1], nullptr);
  EXPECT_TRUE(absl::IsFailedPrecondition(sequence_.Ready()));
  EXPECT_TRUE(absl::IsFailedPrecondition(sequence_.CheckExport(kSimKvSpace, {0, 9})));
  EXPECT_TRUE(sequence_.CheckExport(kSimKvSpace, {0, 8}).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(sequence_.Trim(kSimKvSpace, 20)));
  EXPECT_TRUE(absl::IsFailedPrecondition(sequence_.WholeBlocks(1).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(sequence_.CheckPromote(kSimKvSpace, {8, 39}, provenance)));
  EXPECT_TRUE(absl::IsFailedPrecondition(sequence_.CheckPromote(kSimKvSpace, range, {})));
  EXPECT_TRUE(sequence_.CheckPromote(kSimKvSpace, range, provenance).ok());
  const auto blocks = pool_.TakeTentative(3);
  ASSERT_TRUE(sequence_.Promote(range, rows, *blocks).ok());
  EXPECT_TRUE(sequence_.CheckInvariants());
  ExpectSamePoint(sequence_, twin);
  EXPECT_TRUE(absl::IsFailedPrecondition(sequence_.CheckPromote(kSimKvSpace, range, provenance)));
}

TEST_F(SimSequenceTest, PromoteRefusesRowsOfOtherTokens) {
  Append(sequence_, 16);
  auto rows = RowsOf(sequence_, {0, 16});
  sequence_.Demote(kSimKvSpace, {0, 16});
  rows[3].row.token ^= 1;
  const auto blocks = pool_.TakeTentative(1);
  EXPECT_TRUE(absl::IsInvalidArgument(sequence_.Promote({0, 16}, rows, *blocks)));
  EXPECT_EQ(pool_.tentative(), 1U);
  EXPECT_TRUE(sequence_.CheckInvariants());
}

TEST_F(SimSequenceTest, TrimCutsDemotedRangesAway) {
  Append(sequence_, 40);
  sequence_.Demote(kSimKvSpace, {18, 22});
  sequence_.Demote(kSimKvSpace, {22, 40});
  EXPECT_TRUE(sequence_.Trim(kSimKvSpace, 22).ok());
  EXPECT_TRUE(sequence_.CheckInvariants());
  EXPECT_TRUE(sequence_.Trim(kSimKvSpace, 16).ok());
  EXPECT_TRUE(sequence_.Trim(kSimRecurrentSpace, 16).ok());
  EXPECT_TRUE(sequence_.Ready().ok());
  EXPECT_TRUE(sequence_.CheckInvariants());
}

TEST_F(SimSequenceTest, DemotedRecurrentStateComesBack) {
  Append(sequence_, 20);
  SimSequence twin = sequence_;
  const auto state = sequence_.RecurrentAt(20);
  ASSERT_TRUE(state.ok());
  const Digest provenance = sequence_.Provenance(kSimRecurrentSpace, {0, 20});
  sequence_.Demote(kSimRecurrentSpace, {0, 20});
  EXPECT_TRUE(absl::IsFailedPrecondition(sequence_.Ready()));
  EXPECT_TRUE(absl::IsFailedPrecondition(sequence_.RecurrentAt(20).status()));
  EXPECT_TRUE(sequence_.RecurrentAt(16).ok());
  EXPECT_TRUE(
      absl::IsInvalidArgument(sequence_.CheckPromote(kSimRecurrentSpace, {0, 16}, provenance)));
  EXPECT_TRUE(sequence_.CheckPromote(kSimRecurrentSpace, {0, 20}, provenance).ok());
  sequence_.SetRecurrent(20, *state, provenance);
  ExpectSamePoint(sequence_, twin);
}

TEST_F(SimSequenceTest, SpacesOfDifferentTokensDisagree) {
  Append(sequence_, 16);
  SimSequence other(pool_, {});
  ASSERT_TRUE(other.Ready().ok());
  for (Token i = 0; i < 16; ++i) ASSERT_TRUE(other.Append(i, 0, false).ok());
  sequence_.Replace(RowsOf(other, {0, 16}), pool_.TakeTentative(1)->Take());
  EXPECT_TRUE(absl::IsFailedPrecondition(sequence_.Ready()));
  EXPECT_NE(sequence_.Provenance(kSimRecurrentSpace, {0, 16}),
            sequence_.Provenance(kSimKvSpace, {0, 16}));
  sequence_.SetRecurrent(16, *other.RecurrentAt(16), other.Provenance(kSimRecurrentSpace, {0, 16}));
  ExpectSamePoint(sequence_, other);
}

TEST_F(SimSequenceTest, CheckpointsAreRecomputedIfNeeded) {
  Append(sequence_, 40);
  SimSequence restored(pool_, {});
  restored.Replace(RowsOf(sequence_, {0, 40}), pool_.TakeTentative(3)->Take());
  restored.SetRecurrent(40, *sequence_.RecurrentAt(40),
                        sequence_.Provenance(kSimRecurrentSpace, {0, 40}));
  ASSERT_TRUE(restored.Ready().ok());
  EXPECT_EQ(*restored.RecurrentAt(16), *sequence_.RecurrentAt(16));
  EXPECT_EQ(*restored.RecurrentAt(0), SimStartPoint().recurrent);
}

TEST_F(SimSequenceTest, ReplacedRowsHaveTheirOwnCheckpoints) {
  Append(sequence_, 40);
  SimSequence other(pool_, {});
  ASSERT_TRUE(other.Ready().ok());
  for (Token i = 0; i < 40; ++i) ASSERT_TRUE(other.Append(i, 0, false).ok());
  sequence_.Replace(RowsOf(other, {0, 40}), pool_.TakeTentative(3)->Take());
  EXPECT_EQ(*sequence_.RecurrentAt(16), *other.RecurrentAt(16));
}

TEST_F(SimSequenceTest, BoundariesAndRanges) {
  Append(sequence_, 40);
  EXPECT_EQ(*sequence_.Boundary(kSimKvSpace, 17), 17U);
  EXPECT_EQ(*sequence_.Boundary(kSimRecurrentSpace, 17), 16U);
  EXPECT_EQ(*sequence_.Boundary(kSimRecurrentSpace, 99), 40U);
  EXPECT_TRUE(absl::IsInvalidArgument(sequence_.CheckRange(kSimKvSpace, {0, 41})));
  EXPECT_TRUE(absl::IsInvalidArgument(sequence_.CheckRange(kSimKvSpace, {3, 2})));
  EXPECT_TRUE(absl::IsInvalidArgument(sequence_.CheckExport(kSimRecurrentSpace, {16, 32})));
  EXPECT_TRUE(absl::IsInvalidArgument(sequence_.CheckExport(kSimRecurrentSpace, {0, 17})));
  EXPECT_TRUE(sequence_.CheckExport(kSimRecurrentSpace, {0, 32}).ok());
}

TEST_F(SimSequenceTest, VersionsChangeWithTheState) {
  uint64_t before = sequence_.version(kSimKvSpace);
  const auto changed = [&] {
    return std::exchange(before, sequence_.version(kSimKvSpace)) != before;
  };
  Append(sequence_, 17);
  EXPECT_TRUE(changed());
  ASSERT_TRUE(sequence_.Trim(kSimKvSpace, 16).ok());
  EXPECT_TRUE(changed());
  sequence_.Demote(kSimKvSpace, {0, 16});
  EXPECT_TRUE(changed());
}

SequenceBook::Maker MakerOf(SimBlockPool& pool) {
  return [&pool](AdapterRef adapter) { return std::make_unique<SimSequence>(pool, adapter); };
}

TEST(SequenceBookTest, FindsForksAndFrees) {
  SimBlockPool pool(8);
  HandleSource handles;
  SequenceBook sequences(handles, 2, MakerOf(pool));
  const auto first = sequences.Create({});
  ASSERT_TRUE(first.ok());
  EXPECT_TRUE(sequences.Find(*first).ok());
  EXPECT_TRUE(absl::IsNotFound(sequences.Find(SequenceHandle{99}).status()));
  EXPECT_TRUE(absl::IsNotFound(sequences.Fork(SequenceHandle{99}).status()));
  const auto second = sequences.Fork(*first);
  ASSERT_TRUE(second.ok());
  EXPECT_TRUE(absl::IsResourceExhausted(sequences.Create({}).status()));
  EXPECT_TRUE(sequences.Free(*first).ok());
  EXPECT_TRUE(absl::IsNotFound(sequences.Free(*first)));
  EXPECT_NE(*sequences.Create({}), *first);
}

TEST(SequenceBookTest, ForkNeedsAllOfTheState) {
  SimBlockPool pool(8);
  HandleSource handles;
  SequenceBook sequences(handles, 2, MakerOf(pool));
  const auto parent = sequences.Create({});
  auto& sequence = static_cast<SimSequence&>(**sequences.Find(*parent));
  ASSERT_TRUE(sequence.Ready().ok());
  ASSERT_TRUE(sequence.Append(1, 0, false).ok());
  sequence.Demote(kSimKvSpace, {0, 1});
  EXPECT_TRUE(absl::IsFailedPrecondition(sequences.Fork(*parent).status()));
}

TEST(SequenceBookTest, RemembersLanesWithinBounds) {
  SimBlockPool pool(8);
  HandleSource handles;
  SequenceBook sequences(handles, 2, MakerOf(pool));
  const SequenceHandle sequence = *sequences.Create({});
  EXPECT_TRUE(absl::IsNotFound(sequences.LaneSequence(LaneTag{0}).status()));
  sequences.SetLane(LaneTag{0}, sequence);
  EXPECT_EQ(*sequences.LaneSequence(LaneTag{0}), sequence);
  for (uint64_t tag = 1; tag <= 65536; ++tag) sequences.SetLane(LaneTag{tag}, sequence);
  EXPECT_TRUE(absl::IsNotFound(sequences.LaneSequence(LaneTag{0}).status()));
  EXPECT_TRUE(sequences.LaneSequence(LaneTag{1}).ok());
  ASSERT_TRUE(sequences.Free(sequence).ok());
  EXPECT_TRUE(absl::IsNotFound(sequences.LaneSequence(LaneTag{1}).status()));
}

}  // namespace
}  // namespace superfluid
