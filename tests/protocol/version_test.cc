#include "protocol/messages/version.h"

#include "gtest/gtest.h"
#include "protocol/messages/status.h"

namespace superfluid::linkw {
namespace {

TEST(VersionTest, PicksTheHighestCommonOne) {
  EXPECT_EQ(*Negotiate({8, 8}), 8);
  EXPECT_EQ(*Negotiate({1, 65535}), 8);
  EXPECT_EQ(*Negotiate({7, 9}, {8, 12}), 9);
  EXPECT_EQ(*Negotiate({8, 12}, {7, 9}), 9);
}

TEST(VersionTest, NothingInCommonIsAMismatchThatNamesBothSides) {
  for (const VersionRange client : {VersionRange{9, 10}, VersionRange{6, 7}}) {
    const auto chosen = Negotiate(client);
    ASSERT_FALSE(chosen.ok());
    EXPECT_EQ(FromAbsl(chosen.status()), Status::kVersionMismatch);
    EXPECT_NE(chosen.status().message().find("8..8"), absl::string_view::npos);
  }
  EXPECT_NE(Negotiate({9, 10}).status().message().find("9..10"), absl::string_view::npos);
}

TEST(VersionTest, ARangeThatIsNoneIsAnInvalidArgument) {
  EXPECT_EQ(FromAbsl(Negotiate({9, 8}).status()), Status::kInvalidArgument);
  EXPECT_EQ(FromAbsl(Negotiate({0, 8}).status()), Status::kInvalidArgument);
  EXPECT_EQ(FromAbsl(Negotiate({0, 0}).status()), Status::kInvalidArgument);
  EXPECT_EQ(FromAbsl(Negotiate({8, 8}, {9, 8}).status()), Status::kInvalidArgument);
}

}  // namespace
}  // namespace superfluid::linkw
