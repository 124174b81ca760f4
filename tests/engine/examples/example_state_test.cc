// The example engine's state: what is refused, and that nothing happens by halves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "tests/engine/examples/example_fixture.h"

namespace superfluid {
namespace {

using testing::RunToEnd;
using testing::TokensOf;

class ExampleStateTest : public testing::ExampleFixture {
 protected:
  const std::vector<Token> text_ = TokensOf("the worker asks for the state");
};

TEST_F(ExampleStateTest, SizesAndBoundaries) {
  const SequenceHandle sequence = Prefilled(text_);
  EXPECT_EQ(*generation().SnapshotBoundary(sequence, SpaceId{}, 1000), text_.size());
  EXPECT_EQ(*generation().SnapshotBoundary(sequence, SpaceId{}, 5), 5U);
  const auto size = generation().SizeOfExport(sequence, SpaceId{}, {2, 5}, 0);
  ASSERT_TRUE(size.ok());
  EXPECT_EQ(size->bytes, 3 * generation().StateSpaces()[0].bytes_per_token);
  Decode(sequence, 1);
  EXPECT_NE(generation().SizeOfExport(sequence, SpaceId{}, {2, 5}, 0)->sizing_gen,
            size->sizing_gen);
}

TEST_F(ExampleStateTest, RefusesToExportWhatIsNotThere) {
  const SequenceHandle sequence = Prefilled(text_);
  for (const StateExport& what : std::vector<StateExport>{
           {sequence, SpaceId{1}, {0, 1}, 0, false},
           {sequence, SpaceId{}, {0, text_.size() + 1}, 0, false},
           {sequence, SpaceId{}, {0, 1}, 1, false},
           {sequence, SpaceId{}, {0, 2}, 0, false}}) {  // but room for one token
    std::vector<std::byte> out(16);
    EXPECT_EQ(generation().StartExport(what, absl::MakeSpan(out)).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
}

// Every byte counts: of the right length, but wrong.
TEST_F(ExampleStateTest, RefusesStateWithAWrongByte) {
  const SequenceHandle from = Prefilled(text_);
  const TokenRange range = {0, text_.size()};
  const Exported state = Export(from, range);
  for (size_t i = 0; i < state.bytes.size(); ++i) {
    Exported wrong = state;
    wrong.bytes[i] ^= std::byte{1};
    EXPECT_EQ(Import(from, range, wrong, true).code(), absl::StatusCode::kInvalidArgument) << i;
  }
  Exported of_another = state;
  of_another.provenance[7] ^= 1;
  EXPECT_EQ(Import(from, range, of_another, true).code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(ExampleStateTest, RefusesStateThatDoesNotFit) {
  const SequenceHandle from = Prefilled(text_);
  const Exported state = Export(from, {0, 4});
  for (const auto& [range, replace] : std::vector<std::pair<TokenRange, bool>>{
           {{0, 5}, true}, {{0, 3}, true}, {{1, 5}, true}, {{0, 4}, false}}) {
    EXPECT_EQ(Import(from, range, state, replace).code(), absl::StatusCode::kInvalidArgument);
  }
}

TEST_F(ExampleStateTest, AnImportThatFailsChangesNothing) {
  const SequenceHandle sequence = Prefilled(text_);
  Exported state = Export(sequence, {0, text_.size()});
  state.bytes.back() ^= std::byte{1};
  const SequenceHandle twin = *generation().Fork(sequence, 0);
  EXPECT_FALSE(Import(sequence, {0, text_.size()}, state, true).ok());
  EXPECT_EQ(Decode(sequence, 20), Decode(twin, 20));
}

TEST_F(ExampleStateTest, ADemotedSequenceWaitsForItsState) {
  const SequenceHandle sequence = Prefilled(text_);
  const TokenRange range = {3, 9};
  const Exported state = Export(sequence, range, /*free_device_copy=*/true);
  EXPECT_EQ(generation().Fork(sequence, 0).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(generation().Trim(sequence, SpaceId{}, 1).code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(generation().SizeOfExport(sequence, SpaceId{}, {0, 1}, 0).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Import(sequence, {3, 8}, state, false).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(Import(sequence, range, state, false).ok());
  EXPECT_TRUE(generation().Fork(sequence, 0).ok());
}

TEST_F(ExampleStateTest, ACancelledOrAbandonedJobChangesNothing) {
  const SequenceHandle sequence = Prefilled(text_);
  std::vector<std::byte> out(text_.size() * 16);
  const StateExport what = {sequence, SpaceId{}, {0, text_.size()}, 0, true};
  {
    auto job = generation().StartExport(what, absl::MakeSpan(out));
    ASSERT_TRUE(job.ok());
    CancelToken cancelled;
    cancelled.Cancel(CancelReason::kRequested, 1);
    EXPECT_TRUE(absl::IsCancelled((*job)->Step({}, cancelled).status()));
  }
  EXPECT_TRUE(generation().StartExport(what, absl::MakeSpan(out)).ok());
  EXPECT_TRUE(generation().Fork(sequence, 0).ok());
}

TEST_F(ExampleStateTest, LargeStateMovesInSteps) {
  const SequenceHandle sequence = Prefilled(RandomText(4000, 4000));
  std::vector<std::byte> out(size_t{4000} * 16);
  auto job =
      generation().StartExport({sequence, SpaceId{}, {0, 4000}, 0, false}, absl::MakeSpan(out));
  ASSERT_TRUE(job.ok());
  EXPECT_EQ(*(*job)->Step({}, token_), StateJobOutcome::kMore);
  EXPECT_GT((*job)->bytes_moved(), 0U);
  EXPECT_LT((*job)->bytes_moved(), out.size());
  EXPECT_TRUE(RunToEnd(**job).ok());
  EXPECT_EQ((*job)->bytes_moved(), out.size());
}

TEST_F(ExampleStateTest, AnEmptyRangeIsAStateToo) {
  const SequenceHandle sequence = *generation().CreateSequence();
  const Exported nothing = Export(sequence, {0, 0});
  EXPECT_TRUE(Import(sequence, {0, 0}, nothing, true).ok());
}

}  // namespace
}  // namespace superfluid
