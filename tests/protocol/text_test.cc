#include "protocol/messages/text.h"

#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"

namespace superfluid::linkw {
namespace {

TEST(TextTest, AcceptsUtf8) {
  for (const char* text : {"", "plain", "gr\xC3\xBC\xC3\x9F", "\xE2\x82\xAC", "\xF0\x9F\x98\x80",
                           "\xED\x9F\xBF", "\xEE\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(IsUtf8(text)) << text;
  }
  EXPECT_TRUE(IsUtf8(std::string_view("a\0b", 3)));
}

TEST(TextTest, RefusesWhatIsNot) {
  for (const char* text : {
           "\xff",              // never occurs
           "\x80",              // a continuation alone
           "\xC3",              // cut short
           "a\xE2\x82",         // cut short
           "\xC0\x80",          // overlong
           "\xE0\x9F\xBF",      // overlong
           "\xF0\x8F\xBF\xBF",  // overlong
           "\xED\xA0\x80",      // a surrogate
           "\xF4\x90\x80\x80",  // above U+10FFFF
           "\xF5\x80\x80\x80",  // above U+10FFFF
           "\xE2\x28\xA1",      // second byte is no continuation
           "\xE2\x82\x28",      // third byte is none
       }) {
    EXPECT_FALSE(IsUtf8(text));
  }
}

TEST(TextTest, ReplacesEachBadByte) {
  EXPECT_EQ(ToUtf8("a\xff\xffz", 100), "a\xEF\xBF\xBD\xEF\xBF\xBDz");
  EXPECT_EQ(ToUtf8("\xE2\x82", 100), "\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(ToUtf8("gr\xC3\xBCn", 100), "gr\xC3\xBCn");
}

TEST(TextTest, CutsBetweenCharacters) {
  EXPECT_EQ(ToUtf8("\xE2\x82\xAC\xE2\x82\xAC", 5), "\xE2\x82\xAC");
  EXPECT_EQ(ToUtf8("\xE2\x82\xAC\xE2\x82\xAC", 6), "\xE2\x82\xAC\xE2\x82\xAC");
  EXPECT_EQ(ToUtf8("abc", 2), "ab");
  EXPECT_EQ(ToUtf8("\xff", 2), "");
}

}  // namespace
}  // namespace superfluid::linkw
