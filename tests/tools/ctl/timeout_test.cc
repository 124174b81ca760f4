#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "tools/ctl/base/time_option.h"
#include "tools/ctl/command_line.h"

namespace superfluid::ctl {
namespace {

TEST(ParseTimeoutTest, TakesSecondsAndUnits) {
  EXPECT_EQ(*ParseTimeout("2"), absl::Seconds(2));
  EXPECT_EQ(*ParseTimeout("0.5"), absl::Milliseconds(500));
  EXPECT_EQ(*ParseTimeout("500ms"), absl::Milliseconds(500));
  EXPECT_EQ(*ParseTimeout("1m"), absl::Minutes(1));
  for (const char* bad : {"", "x", "0", "-1", "nan", "inf", "1e300", "1 fortnight"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParseTimeout(bad).status())) << bad;
  }
}

TEST(ParseTimeTest, CountsBareNumbersInItsUnit) {
  EXPECT_EQ(*ParseTime("2", absl::Milliseconds(1)), absl::Milliseconds(2));
  EXPECT_EQ(*ParseTime("2s", absl::Milliseconds(1)), absl::Seconds(2));
  EXPECT_EQ(*ParseTime("0", absl::Milliseconds(1)), absl::ZeroDuration());
  EXPECT_EQ(ParseTime("soon", absl::Milliseconds(1)).status().message(),
            "'soon' is no time: give a number of milliseconds, or a time with its unit such as "
            "500ms or 2s");
}

// What the parser says to the option's value; `ms`: what it gave.
std::string ParseMsOption(const std::string& value, MsRange range, uint32_t* ms) {
  CLI::App app;
  AddMsOption(app, "--for", "How long", range, [ms](uint32_t given) { *ms = given; });
  try {
    app.parse(std::vector<std::string>{value, "--for"});
  } catch (const CLI::ParseError& error) {
    return error.what();
  }
  return "";
}

TEST(AddMsOptionTest, TakesMillisecondsAndUnits) {
  uint32_t ms = 7;
  EXPECT_EQ(ParseMsOption("1500", {}, &ms), "");
  EXPECT_EQ(ms, 1500u);
  EXPECT_EQ(ParseMsOption("2s", {}, &ms), "");
  EXPECT_EQ(ms, 2000u);
  EXPECT_EQ(ParseMsOption("0", {}, &ms), "");
  EXPECT_EQ(ms, 0u);
}

TEST(AddMsOptionTest, SaysWhatItExpects) {
  uint32_t ms = 7;
  EXPECT_THAT(ParseMsOption("soon", {}, &ms), testing::HasSubstr("milliseconds, or a time with"));
  EXPECT_THAT(ParseMsOption("5", {.min = 10, .max = 20}, &ms),
              testing::HasSubstr("'5' is not between 10 and 20 milliseconds"));
  for (const char* bad : {"-1", "50d", "2h2", "4294967296", "1000h000000"}) {
    EXPECT_NE(ParseMsOption(bad, {}, &ms), "") << bad;
  }
  EXPECT_EQ(ms, 7u);
}

TEST(WholeNumberTest, SaysWhatItExpects) {
  EXPECT_EQ(WholeNumber(1, 9)("5"), "");
  for (const char* bad : {"abc", "0", "10", "-1", "1.5", ""}) {
    EXPECT_THAT(WholeNumber(1, 9)(bad), testing::HasSubstr("no whole number from 1 to 9")) << bad;
  }
}

}  // namespace
}  // namespace superfluid::ctl
