#include "actors/runtime/printable.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace superfluid {
namespace {

TEST(PrintableTest, QuotesOfOneKindAndLettersOfAllStayAsTheyAre) {
  EXPECT_EQ(Printable(std::string("cannot load engine 'x': käse 東京")),
            "cannot load engine 'x': käse 東京");
}

TEST(PrintableTest, QuotesAndControlCharactersAreEscaped) {
  EXPECT_EQ(Printable(std::string("\"a\"\\\n\r\t\x1b[31m\x7f")),
            R"(\"a\"\\\n\r\t\u001b[31m\u007f)");
  EXPECT_EQ(Printable(std::string("\xC2\x9B"
                                  "2J")),
            R"(\u009b2J)");
  EXPECT_EQ(Printable(std::string("\0", 1)), R"(\u0000)");
}

TEST(PrintableTest, BytesThatAreNoUtf8AreReplaced) {
  EXPECT_EQ(Printable(std::string("a\xFFz")), "a\xEF\xBF\xBDz");
  EXPECT_EQ(Printable(std::string("\xC2")), "\xEF\xBF\xBD");
}

TEST(PrintableTest, AReaderOfJsonUnderstandsEveryByte) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  EXPECT_FALSE(nlohmann::json::parse("\"" + Printable(all) + "\"", nullptr, false).is_discarded());
}

}  // namespace
}  // namespace superfluid
