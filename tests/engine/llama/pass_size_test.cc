#include "engine/llama/pass_size.h"

#include <gtest/gtest.h>

namespace superfluid {
namespace {

constexpr absl::Duration kTarget = absl::Milliseconds(400);

TEST(PassSizeTest, QuickFullPassesGrowUpToTheMost) {
  PassSize size(2048, kTarget);
  EXPECT_EQ(size.tokens(), 32U);
  size.Took(32, absl::Milliseconds(2));
  EXPECT_EQ(size.tokens(), 128U);
  size.Took(128, absl::Milliseconds(80));
  EXPECT_EQ(size.tokens(), 320U);  // which would take half the target
  size.Took(320, absl::Milliseconds(20));
  size.Took(1280, absl::Milliseconds(20));
  EXPECT_EQ(size.tokens(), 2048U);
  size.Took(2048, absl::ZeroDuration());
  EXPECT_EQ(size.tokens(), 2048U);
}

TEST(PassSizeTest, ASlowPassShrinksInProportion) {
  PassSize size(2048, kTarget);
  while (size.tokens() < 2048) size.Took(size.tokens(), absl::Milliseconds(1));
  size.Took(2048, absl::Seconds(4));
  EXPECT_EQ(size.tokens(), 204U);
  size.Took(204, absl::Milliseconds(401));
  EXPECT_EQ(size.tokens(), 203U);
}

TEST(PassSizeTest, NeverLessThanTheLeast) {
  PassSize size(2048, kTarget);
  size.Took(32, absl::Minutes(1));
  EXPECT_EQ(size.tokens(), 32U);
  size.Took(1, absl::InfiniteDuration());
  EXPECT_EQ(size.tokens(), 32U);
}

TEST(PassSizeTest, PassesOfFewTokensSayNothingAboutMore) {
  PassSize size(2048, kTarget);
  size.Took(31, absl::Milliseconds(1));
  EXPECT_EQ(size.tokens(), 32U);
  size.Took(0, absl::Minutes(1));
  EXPECT_EQ(size.tokens(), 32U);
}

TEST(PassSizeTest, ASmallMostIsKept) {
  PassSize size(5, kTarget);
  EXPECT_EQ(size.tokens(), 5U);
  size.Took(5, absl::Milliseconds(1));
  EXPECT_EQ(size.tokens(), 5U);
  size.Took(5, absl::Minutes(1));
  EXPECT_EQ(size.tokens(), 5U);
}

TEST(PassSizeTest, WithoutATargetAlwaysTheMost) {
  PassSize size(2048, absl::ZeroDuration());
  EXPECT_EQ(size.tokens(), 2048U);
  size.Took(2048, absl::Minutes(1));
  EXPECT_EQ(size.tokens(), 2048U);
}

}  // namespace
}  // namespace superfluid
