#include "engine/whisper/utf8_carry.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace superfluid {
namespace {

TEST(Utf8CarryTest, WholeTextPasses) {
  Utf8Carry carry;
  const std::string text = "na\u00efve \u65e5\u672c\u8a9e \U0001F600 end";
  EXPECT_EQ(carry.Add(text), text);
  EXPECT_TRUE(carry.empty());
  EXPECT_EQ(carry.Add(""), "");
}

TEST(Utf8CarryTest, ACutCharacterWaitsForItsRest) {
  Utf8Carry carry;
  EXPECT_EQ(carry.Add("x\xE6\x97"), "x");
  EXPECT_FALSE(carry.empty());
  EXPECT_EQ(carry.Add("\xA5y"), "\u65e5y");
  EXPECT_TRUE(carry.empty());
}

TEST(Utf8CarryTest, EveryCutOfATextGivesTheSame) {
  const std::string text = "a\u00e9\u65e5\U0001F600z";
  for (size_t first = 0; first <= text.size(); ++first) {
    for (size_t second = first; second <= text.size(); ++second) {
      Utf8Carry carry;
      std::string whole = carry.Add(text.substr(0, first));
      whole += carry.Add(text.substr(first, second - first));
      whole += carry.Add(text.substr(second));
      EXPECT_EQ(whole, text) << first << " " << second;
      EXPECT_TRUE(carry.empty());
    }
  }
}

TEST(Utf8CarryTest, WhatIsNoCharacterIsReplaced) {
  const std::string bad = "\uFFFD";
  EXPECT_EQ(Utf8Carry().Add("a\x80z"), "a" + bad + "z");
  EXPECT_EQ(Utf8Carry().Add("\xC0\xAF"), bad + bad) << "overlong";
  EXPECT_EQ(Utf8Carry().Add("\xED\xA0\x80"), bad + bad + bad) << "a surrogate";
  EXPECT_EQ(Utf8Carry().Add("\xF4\x90\x80\x80"), bad + bad + bad + bad) << "beyond U+10FFFF";
  EXPECT_EQ(Utf8Carry().Add("\xFF\xFEok"), bad + bad + "ok");
  EXPECT_EQ(Utf8Carry().Add("\xE6z"), bad + "z") << "a beginning without its rest";
}

TEST(Utf8CarryTest, ARestThatDoesNotFitIsReplacedLater) {
  Utf8Carry carry;
  EXPECT_EQ(carry.Add("\xE6\x97"), "");
  EXPECT_EQ(carry.Add("b"), "\uFFFD\uFFFDb");
  EXPECT_TRUE(carry.empty());
}

TEST(Utf8CarryTest, RandomBytesBecomeCharactersHoweverTheyAreCut) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes;
    for (int i = 0; i < 12; ++i) bytes += static_cast<char>(random() % 2 == 0 ? random() : 'a');
    Utf8Carry at_once;
    const std::string whole = at_once.Add(bytes + "zzzz");
    Utf8Carry one_by_one;
    std::string joined;
    for (const char byte : bytes + "zzzz") joined += one_by_one.Add(std::string(1, byte));
    EXPECT_EQ(joined, whole);
    EXPECT_EQ(Utf8Carry().Add(whole), whole) << "what comes out passes unchanged";
  }
}

}  // namespace
}  // namespace superfluid
