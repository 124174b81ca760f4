#include "tools/worker/log_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace superfluid {
namespace {

using ::testing::EndsWith;

std::string Text(LogLine& line) { return std::string(line.End()); }

TEST(LogLineTest, HasTheTimeTheLevelAndTheEvent) {
  const absl::Time before = absl::Now() - absl::Microseconds(1);
  LogLine line("error", "an.event");
  const absl::Time after = absl::Now();
  const std::string text = Text(line);
  ASSERT_EQ(text.substr(27), " error an.event\n");
  absl::Time written;
  std::string error;
  ASSERT_TRUE(absl::ParseTime("%Y-%m-%dT%H:%M:%E6SZ", text.substr(0, 27), &written, &error))
      << text << error;
  EXPECT_GE(written, before);
  EXPECT_LE(written, after);
}

TEST(LogLineTest, NumbersAreWhole) {
  LogLine line("info", "e");
  line.Number("zero", 0).Number("least", std::numeric_limits<int64_t>::min());
  line.Hex("address", 0xdeadbeef).Hex("null", 0);
  EXPECT_THAT(Text(line), EndsWith("Z info e zero=0 least=-9223372036854775808 address=0xdeadbeef "
                                   "null=0x0\n"));
}

TEST(LogLineTest, TextStaysInItsQuotesAndOnItsLine) {
  LogLine line("info", "e");
  line.Text("text", "it's \"so\" \\ \n\x1b[m é");
  EXPECT_THAT(Text(line), EndsWith(R"(e text="it's \"so\" \\ \u000a\u001b[m é")"
                                   "\n"));
}

TEST(LogLineTest, WhatIsTooLongIsCutAndStillALine) {
  LogLine line("info", "e");
  line.Text("text", std::string(5000, 'x')).Number("n", 1);
  const std::string text = Text(line);
  EXPECT_LE(text.size(), 2048u);
  EXPECT_THAT(text, EndsWith("\"\n"));
}

}  // namespace
}  // namespace superfluid
