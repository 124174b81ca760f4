#include "tools/worker/json_line.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "tools/worker/log_line.h"

namespace superfluid {
namespace {

using Json = nlohmann::json;

constexpr char kStart[] = "2026-12-01T13:22:39.000001Z info link.ready";

// As a reader of the log parses a line: strictly, one object, one line.
Json Parsed(const std::string& line) {
  const std::string text = ToJsonLine(line);
  EXPECT_EQ(text.find('\n'), text.size() - 1) << text;
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  EXPECT_TRUE(json.is_object()) << text;
  return json;
}

Json WithFields(const std::string& fields) { return Parsed(std::string(kStart) + fields + "\n"); }

TEST(JsonLineTest, HasTheFieldsOfTheLineInTheirOrder) {
  EXPECT_EQ(ToJsonLine(std::string(kStart) + " link=3 client=\"a b\" role=driver worker=w-0\n"),
            "{\"time\":\"2026-12-01T13:22:39.000001Z\",\"level\":\"info\",\"event\":\"link.ready\","
            "\"link\":3,\"client\":\"a b\",\"role\":\"driver\",\"worker\":\"w-0\"}\n");
  EXPECT_EQ(WithFields("").size(), 3u);
}

TEST(JsonLineTest, WholeNumbersAreNumbersAndNothingElseIs) {
  const Json json = WithFields(" a=0 b=-17 c=123456789012345678 d=007 e=0x1f f=1.5 g=1e3 h=- i=");
  EXPECT_EQ(json["a"], 0);
  EXPECT_EQ(json["b"], -17);
  EXPECT_EQ(json["c"], 123456789012345678);
  for (const char* key : {"d", "e", "f", "g", "h", "i"}) EXPECT_TRUE(json[key].is_string()) << key;
}

TEST(JsonLineTest, AWorkerThatIsCalledByADigitIsAName) {
  EXPECT_EQ(WithFields(" worker=7")["worker"], "7");
}

TEST(JsonLineTest, EscapesOfTheLineAreThoseOfJson) {
  const Json json = WithFields(R"( text="it's \"so\" \\ \n\u001b[m é\u0085" n=1)");
  EXPECT_EQ(json["text"], "it's \"so\" \\ \n\x1b[m é\xC2\x85");
  EXPECT_EQ(json["n"], 1);
}

TEST(JsonLineTest, Utf8StaysAsItIs) {
  const std::string text = "\xC2\x80 \xE0\xA0\x80 \xED\x9F\xBF \xF0\x9F\x8E\xB5 \xF4\x8F\xBF\xBF";
  EXPECT_EQ(WithFields(" text=\"" + text + "\"")["text"], text);
  EXPECT_NE(ToJsonLine(std::string(kStart) + " text=\"" + text + "\"").find(text),
            std::string::npos);
}

TEST(JsonLineTest, BytesThatAreNoUtf8AreReplaced) {
  for (const char* bytes : {"\x80", "\xC0\xAF", "\xE0\x9F\x80", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF",
                            "\xF4\x90\x80\x80", "\xF5", "\xFF", "\xE2\x82", "\xF0\x9F\x8E"}) {
    const std::string text = WithFields(std::string(" text=\"a") + bytes + "b\"")["text"];
    EXPECT_EQ(text.substr(0, 4), "a\xEF\xBF\xBD");
    EXPECT_EQ(text.back(), 'b');
  }
}

TEST(JsonLineTest, WhatBreaksTheFormIsTextToTheEnd) {
  EXPECT_EQ(Parsed("any \"words\"\n"), Json({{"text", "any \"words\""}}));
  EXPECT_EQ(Parsed(""), Json::object());
  EXPECT_EQ(WithFields(" a=1 not a field b=2")["text"], "not a field b=2");
  EXPECT_EQ(WithFields(" a=1 b=\"no end")["text"], "b=\"no end");
  EXPECT_EQ(WithFields(" b=\"x\"y c=1")["text"], "b=\"x\"y c=1");
  EXPECT_EQ(WithFields(" a\"b=1")["text"], "a\"b=1");
}

TEST(JsonLineTest, EscapesThatAreNoneAreBackslashes) {
  EXPECT_EQ(WithFields(R"( text="\x \u12 \ud800")")["text"], R"(\x \u12 \ud800)");
  EXPECT_EQ(WithFields(std::string(" text=\"\\\0\"", 10))["text"], std::string("\\\0", 2));
}

TEST(JsonLineTest, IsJsonWhateverTheLineIs) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  const std::string alphabet =
      std::string(" =\"\\ua0") + "\x01\x7F\xC3\xA9\xE2\xED\xF0\x9F\n" + '\0';
  for (int round = 0; round < 20'000; ++round) {
    std::string line(kStart);
    if (round % 3 == 0) line.clear();
    for (size_t i = random() % 40; i > 0; --i) line += alphabet[random() % alphabet.size()];
    const std::string text = ToJsonLine(line);
    ASSERT_LE(text.size(), MostJsonBytes(line.size()));
    ASSERT_TRUE(Json::accept(text)) << text;
    ASSERT_EQ(text.find('\n'), text.size() - 1) << text;
  }
}

// ---- Lines that signal handlers write

TEST(JsonLogLineTest, IsAnObjectWithTheWorkersName) {
  LogLine line("error", "crash.frame");
  line.Number("n", 4).Hex("pc", 0xabc).Text("symbol", "f(\"x\")\xFF\n");
  const std::string text(line.End({.format = LogFormat::kJson, .worker = "gpu-0"}));
  const Json json = Json::parse(text, nullptr, false);
  ASSERT_TRUE(json.is_object()) << text;
  EXPECT_EQ(json["event"], "crash.frame");
  EXPECT_EQ(json["n"], 4);
  EXPECT_EQ(json["pc"], "0xabc");
  EXPECT_EQ(json["symbol"], "f(\"x\")\xEF\xBF\xBD\n");
  EXPECT_EQ(json["worker"], "gpu-0");
}

TEST(JsonLogLineTest, OneThatWasCutIsWholeAndHasTheName) {
  LogLine line("error", "an.event");
  std::string long_text;
  while (long_text.size() < 5000) long_text += "\xE2\x82\xAC\x01";
  line.Text("text", long_text).Number("n", 1);
  const std::string text(line.End({.format = LogFormat::kJson, .worker = std::string(500, 'w')}));
  const Json json = Json::parse(text, nullptr, false);
  ASSERT_TRUE(json.is_object()) << text;
  EXPECT_EQ(json["worker"], std::string(LogLine::kMostName, 'w'));
  EXPECT_FALSE(json.contains("n"));
}

}  // namespace
}  // namespace superfluid
