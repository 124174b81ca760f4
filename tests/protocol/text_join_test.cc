#include "protocol/messages/text_join.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace superfluid::linkw {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

TEST(TextJoinTest, WordsOfMostWritingsAreSeparated) {
  for (const auto& [left, right] : Pairs{{"one", "two"},
                                         {"Grüße", "Österreich"},
                                         {"привет", "мир"},
                                         {"안녕", "하세요"},
                                         {"नमस्ते", "दुनिया"},
                                         {"one.", "Two"},
                                         {"3", "4"},
                                         {"日本", "OK"},
                                         {"OK", "日本"},
                                         {"\xFF", "\xFE"}}) {
    EXPECT_EQ(Separator(left, right), " ") << left << right;
  }
}

TEST(TextJoinTest, ThereIsNoBlankWhereAWritingHasNone) {
  for (const auto& [left, right] : Pairs{{"こんにちは", "世界"},
                                         {"你好。", "世界"},
                                         {"สวัสดี", "ครับ"},
                                         {"ສະບາຍດີ", "ໂລກ"},
                                         {"មင្គល", "លោក"},
                                         {"မင်္ဂလာ", "ပါ"},
                                         {"です?", "はい"},
                                         {"2024", "年"},
                                         {"年", "2024"},
                                         {"「はい」", "「いいえ」"},
                                         {"𠮷", "野"}}) {
    EXPECT_EQ(Separator(left, right), "") << left << right;
  }
}

TEST(TextJoinTest, ABlankThatIsThereIsNotDoubled) {
  for (const auto& [left, right] :
       Pairs{{"one ", "two"}, {"one", " two"}, {"", "two"}, {"one", ""}}) {
    EXPECT_EQ(Separator(left, right), "");
  }
}

TEST(TextJoinTest, LongPiecesAreLookedAtNearTheSeam) {
  const std::string digits(100, '7');
  EXPECT_EQ(Separator("日本" + digits, "one"), " ");
  EXPECT_EQ(Separator(std::string(1'000'000, 'a') + "。", "日本"), "");
  for (int i = 0; i < 8; ++i) {  // wherever the cut falls in a character
    EXPECT_EQ(Separator(std::string(i, 'a') + std::string(90, ' ') +
                            "日本日本日本日本日本日本日本日本日本",
                        "日本日本日本日本日本日本日本日本日本日本日本日本"),
              "");
  }
}

TEST(TextJoinTest, AppendsPieces) {
  std::string text;
  for (const char* piece : {"one", "two", "三", "四", ""}) AppendPiece(piece, text);
  EXPECT_EQ(text, "one two 三四");
}

}  // namespace
}  // namespace superfluid::linkw
