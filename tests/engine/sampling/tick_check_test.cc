#include "engine/sampling/tick_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/sampling/prompt_lookup.h"

namespace superfluid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr size_t kMost = 3;

LaneWork Lane(uint64_t tag, uint64_t sequence) {
  LaneWork lane;
  lane.tag = LaneTag{tag};
  lane.sequence = SequenceHandle{sequence};
  return lane;
}

absl::Status Check(const std::vector<LaneWork>& lanes) {
  return CheckTick({.tick_id = 1, .partial_emits = false, .lanes = lanes}, kMost);
}

TEST(TickCheckTest, CountsLanes) {
  EXPECT_TRUE(absl::IsInvalidArgument(Check({})));
  EXPECT_TRUE(Check({Lane(1, 1), Lane(2, 2), Lane(3, 3)}).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(Check({Lane(1, 0), Lane(2, 0), Lane(3, 0), Lane(4, 0)})));
}

TEST(TickCheckTest, NoTagAndNoSequenceComesTwiceButNewOnes) {
  EXPECT_TRUE(absl::IsInvalidArgument(Check({Lane(1, 1), Lane(1, 2)})));
  EXPECT_TRUE(absl::IsInvalidArgument(Check({Lane(1, 1), Lane(2, 1)})));
  EXPECT_TRUE(Check({Lane(1, 0), Lane(2, 0)}).ok());
}

TEST(LaneCheckTest, RefusesWhatIsNoLane) {
  LaneWork lane;
  EXPECT_TRUE(CheckLane(lane).ok());
  lane.max_tokens = kMaxLaneTokens;
  EXPECT_TRUE(CheckLane(lane).ok());
  lane.max_tokens = kMaxLaneTokens + 1;
  EXPECT_TRUE(absl::IsInvalidArgument(CheckLane(lane)));
  lane.kind = LaneKind::kPrefill;
  lane.max_tokens = 1;
  EXPECT_TRUE(absl::IsInvalidArgument(CheckLane(lane)));
  lane.max_tokens = 0;
  EXPECT_TRUE(CheckLane(lane).ok());
  lane.sampling.temperature = -1;
  EXPECT_TRUE(absl::IsInvalidArgument(CheckLane(lane)));
  lane.sampling.temperature = 0;
  lane.kind = static_cast<LaneKind>(9);
  EXPECT_TRUE(absl::IsInvalidArgument(CheckLane(lane)));
}

TEST(PromptLookupTest, TakesWhatFollowedTheLastOccurrence) {
  const std::vector<Token> history = {1, 2, 7, 8, 1, 2, 9, 1, 2};
  EXPECT_THAT(PromptLookupDrafts(history, 2, 2, 100), ElementsAre(9, 1));
  EXPECT_THAT(PromptLookupDrafts(history, 2, 9, 100), ElementsAre(9, 1, 2));
  EXPECT_THAT(PromptLookupDrafts(history, 3, 2, 100), IsEmpty());
  EXPECT_THAT(PromptLookupDrafts(history, 2, 2, 3), IsEmpty()) << "it is farther back";
  EXPECT_THAT(PromptLookupDrafts({}, 1, 2, 100), IsEmpty());
  EXPECT_THAT(PromptLookupDrafts(history, 9, 2, 100), IsEmpty());
}

}  // namespace
}  // namespace superfluid
