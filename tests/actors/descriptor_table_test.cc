#include "actors/dispatch/descriptor_table.h"

#include <fcntl.h>

#include <utility>

#include "gtest/gtest.h"

namespace superfluid {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

OwnedFd SomeFd() { return OwnedFd(open("/dev/null", O_RDONLY | O_CLOEXEC)); }
bool IsOpen(int fd) { return fcntl(fd, F_GETFD) >= 0; }

TEST(DescriptorTableTest, DescriptorsAreClaimedByTagInOrderOfArrival) {
  DescriptorTable table(absl::Seconds(5));
  OwnedFd first = SomeFd();
  const int first_number = first.get();
  table.Add(7, std::move(first), 0);
  table.Add(7, SomeFd(), 0);
  EXPECT_FALSE(table.Claim(8).has_value());
  EXPECT_EQ(table.Claim(7)->get(), first_number);
  EXPECT_TRUE(table.Claim(7).has_value());
  EXPECT_FALSE(table.Claim(7).has_value());
}

TEST(DescriptorTableTest, WhatIsNotClaimedInTimeIsClosed) {
  DescriptorTable table(absl::Seconds(5));
  OwnedFd fd = SomeFd();
  const int number = fd.get();
  table.Add(1, std::move(fd), 0);
  table.Add(2, SomeFd(), 3 * kSecond);
  EXPECT_EQ(table.DropOverdue(5 * kSecond - 1), 0u);
  EXPECT_EQ(table.DropOverdue(5 * kSecond), 1u);
  EXPECT_FALSE(IsOpen(number));
  EXPECT_EQ(table.size(), 1u);
}

TEST(DescriptorTableTest, RoomIsMadeByTheOldestThatNobodyNames) {
  DescriptorTable table(absl::Seconds(5));
  for (const uint64_t tag : {1, 2, 2, 3}) table.Add(tag, SomeFd(), 0);
  EXPECT_TRUE(table.DropOldestBut({1, 2}));  // the second one with tag 2
  EXPECT_EQ(table.size(), 3u);
  EXPECT_TRUE(table.Claim(2).has_value());
  EXPECT_FALSE(table.Claim(2).has_value());
  EXPECT_FALSE(table.DropOldestBut({1, 3, 4}));
  EXPECT_TRUE(table.DropOldestBut({3}));
  EXPECT_FALSE(table.Claim(1).has_value());
  EXPECT_TRUE(table.Claim(3).has_value());
}

}  // namespace
}  // namespace superfluid
