#include "engine/abi/text.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace superfluid {
namespace {

TEST(ValidUtf8Test, KeepsWellFormedText) {
  const std::string text =
      "a\x7F \xC2\x80 caf\xC3\xA9 \xE0\xA0\x80 \xED\x9F\xBF \xEF\xBF\xBF "
      "\xF0\x90\x80\x80 \xF4\x8F\xBF\xBF\n";
  EXPECT_EQ(ValidUtf8(text), text);
  EXPECT_EQ(ValidUtf8(""), "");
}

TEST(ValidUtf8Test, ReplacesEachBadByte) {
  const std::string r = "\xEF\xBF\xBD";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"\x80", r},  // a continuation alone
      {"a\xFF"
       "b",
       "a" + r + "b"},                           // no lead byte
      {"\xC3", r},                               // cut short
      {"\xE2\x82", r + r},                       // cut short
      {"\xC3(", r + "("},                        // the next character stays
      {"\xC0\xAF", r + r},                       // overlong
      {"\xE0\x9F\xBF", r + r + r},               // overlong
      {"\xF0\x8F\xBF\xBF", r + r + r + r},       // overlong
      {"\xED\xA0\x80", r + r + r},               // a surrogate
      {"\xF4\x90\x80\x80", r + r + r + r},       // above U+10FFFF
      {"\xF5\x80\x80\x80", r + r + r + r},       // above U+10FFFF
      {"\xE2\xE2\x82\xAC", r + "\xE2\x82\xAC"},  // resynchronises
      {std::string("a\0b", 3), "a" + r + "b"},   // NUL
  };
  for (const auto& [bad, expected] : cases) EXPECT_EQ(ValidUtf8(bad), expected);
}

TEST(ValidUtf8Test, AnyTwoBytesGiveValidText) {
  for (int i = 0; i < 0x10000; ++i) {
    const std::string bytes = {static_cast<char>(i >> 8), static_cast<char>(i & 0xFF), '!'};
    const std::string valid = ValidUtf8(bytes);
    EXPECT_EQ(ValidUtf8(valid), valid);
    EXPECT_EQ(valid.back(), '!');
    EXPECT_LE(valid.size(), 3 * bytes.size());
  }
}

TEST(CopyTextTest, RefusesNullWithASizeAndTooMuch) {
  EXPECT_EQ(CopyText({nullptr, 1}, 10).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CopyText({"abc", 3}, 2).status().code(), absl::StatusCode::kInvalidArgument);
  // Must be refused before the text is looked at.
  EXPECT_EQ(CopyText({"abc", SIZE_MAX}, 2).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(CopyTextTest, CopiesAndRepairs) {
  EXPECT_EQ(*CopyText({nullptr, 0}, 0), "");
  EXPECT_EQ(*CopyText({"abc", 3}, 3), "abc");
  EXPECT_EQ(*CopyText({"a\xFF", 2}, 3), "a\xEF\xBF\xBD");
}

TEST(TextOfArrayTest, StopsAtNulOrTheEnd) {
  const char terminated[4] = {'a', 'b', '\0', 'c'};
  const char full[2] = {'a', 'b'};
  EXPECT_EQ(TextOfArray(terminated, 4), "ab");
  EXPECT_EQ(TextOfArray(full, 2), "ab");
}

}  // namespace
}  // namespace superfluid
