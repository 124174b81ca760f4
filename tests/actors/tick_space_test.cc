#include "actors/engine/tick_space.h"

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include "gtest/gtest.h"

namespace superfluid {
namespace {

TEST(TwiceFinderTest, FindsANumberThatOccursTwice) {
  TwiceFinder finder;
  EXPECT_FALSE(finder.AnyTwice({}));
  EXPECT_FALSE(finder.AnyTwice({7}));
  EXPECT_FALSE(finder.AnyTwice({0, 1, 2}));
  EXPECT_FALSE(finder.AnyTwice({2, 1, 0}));
  EXPECT_TRUE(finder.AnyTwice({1, 1}));
  EXPECT_TRUE(finder.AnyTwice({0, 0}));
  EXPECT_TRUE(finder.AnyTwice({1, 2, 3, 2}));
}

TEST(TwiceFinderTest, AListLeavesNothingBehind) {
  TwiceFinder finder;
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(finder.AnyTwice({9, 3, 5}));
  EXPECT_FALSE(finder.AnyTwice({4, 3}));
}

TEST(TwiceFinderTest, AgreesWithASetOnListsOfAnyLength) {
  std::mt19937_64 random(1);
  TwiceFinder finder;
  int twice = 0;
  for (int i = 0; i < 2000; ++i) {
    std::vector<uint64_t> numbers(1 + random() % TwiceFinder::kMostNumbers);
    const uint64_t below = 1 + (random() >> random() % 64);
    for (uint64_t& number : numbers) number = random() % below;
    const bool expected =
        std::set<uint64_t>(numbers.begin(), numbers.end()).size() < numbers.size();
    ASSERT_EQ(finder.AnyTwice(numbers), expected) << "list " << i;
    twice += expected ? 1 : 0;
  }
  EXPECT_GT(twice, 200);
  EXPECT_LT(twice, 1800);
}

// Numbers that all want the same place still find one.
TEST(TwiceFinderTest, NumbersThatCollideAreFound) {
  std::vector<uint64_t> numbers;
  for (uint64_t number = 1; numbers.size() < TwiceFinder::kMostNumbers; ++number) {
    if ((number * 0x9e3779b97f4a7c15u) >> 54 == 1023) numbers.push_back(number);
  }
  std::reverse(numbers.begin(), numbers.end());
  TwiceFinder finder;
  EXPECT_FALSE(finder.AnyTwice(numbers));
  numbers.front() = numbers.back();
  EXPECT_TRUE(finder.AnyTwice(numbers));
}

TEST(TickSpaceTest, ATickFindsNothingOfTheOneBefore) {
  TickSpace space;
  space.Begin(3);
  space.slots[0].status = absl::InternalError("broken");
  space.slots[1].stop_seen = true;
  space.lanes = {0, 1, 2};
  space.work.resize(3);
  space.inputs = {1, 2};
  space.drawn = {3};
  space.Begin(2);
  ASSERT_EQ(space.slots.size(), 2u);
  EXPECT_TRUE(space.slots[0].status.ok());
  EXPECT_FALSE(space.slots[1].stop_seen);
  EXPECT_TRUE(space.lanes.empty());
  EXPECT_TRUE(space.work.empty());
  EXPECT_TRUE(space.inputs.empty());
  EXPECT_TRUE(space.drawn.empty());
}

TEST(TickSpaceTest, GivesTheRoomOfALargeInputBack) {
  TickSpace space;
  space.inputs.resize(TickSpace::kMostKeptTokens);
  space.Begin(1);
  EXPECT_GE(space.inputs.capacity(), TickSpace::kMostKeptTokens);
  space.inputs.resize(TickSpace::kMostKeptTokens + 1);
  space.Begin(1);
  EXPECT_LE(space.inputs.capacity(), TickSpace::kMostKeptTokens);
}

}  // namespace
}  // namespace superfluid
