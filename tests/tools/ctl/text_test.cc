#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "tools/ctl/formats/plain_text.h"
#include "tools/ctl/formats/unit_text.h"

namespace superfluid::ctl {
namespace {

TEST(TimestampTextTest, CountsHoursMinutesSecondsAndMilliseconds) {
  EXPECT_EQ(TimestampText(0), "00:00:00.000");
  EXPECT_EQ(TimestampText(1230), "00:00:01.230");
  EXPECT_EQ(TimestampText(59'999), "00:00:59.999");
  EXPECT_EQ(TimestampText(60'000), "00:01:00.000");
  EXPECT_EQ(TimestampText(3'599'999), "00:59:59.999");
  EXPECT_EQ(TimestampText(3'600'000), "01:00:00.000");
  EXPECT_EQ(TimestampText(359'999'007, ','), "99:59:59,007");
}

TEST(TimestampTextTest, TakesMoreDigitsForManyHours) {
  EXPECT_EQ(TimestampText(360'000'000), "100:00:00.000");
}

TEST(TimestampTextTest, ShowsANegativeTimeAsZero) {
  EXPECT_EQ(TimestampText(-1), "00:00:00.000");
  EXPECT_EQ(TimestampText(std::numeric_limits<int64_t>::min()), "00:00:00.000");
}

TEST(ShortTimestampTextTest, LeavesOutWhatIsZero) {
  EXPECT_EQ(ShortTimestampText(0), "0:00.0");
  EXPECT_EQ(ShortTimestampText(62'380), "1:02.3");
  EXPECT_EQ(ShortTimestampText(3'599'999), "59:59.9");
  EXPECT_EQ(ShortTimestampText(3'723'900), "1:02:03");
  EXPECT_EQ(ShortTimestampText(-5), "0:00.0");
}

TEST(AgeTextTest, HasTheTwoUnitsThatMatter) {
  EXPECT_EQ(AgeText(absl::Milliseconds(-1)), "0 s");
  EXPECT_EQ(AgeText(absl::Milliseconds(59'999)), "59 s");
  EXPECT_EQ(AgeText(absl::Seconds(60)), "1 min 0 s");
  EXPECT_EQ(AgeText(absl::Seconds(3'599)), "59 min 59 s");
  EXPECT_EQ(AgeText(absl::Minutes(125)), "2 h 5 min");
  EXPECT_EQ(AgeText(absl::Hours(24 * 12 + 7)), "12 d 7 h");
}

TEST(DurationTextTest, HasThreeDigitsOfTheRightUnit) {
  EXPECT_EQ(DurationText(absl::ZeroDuration()), "0 s");
  EXPECT_EQ(DurationText(absl::Seconds(-3)), "0 s");
  EXPECT_EQ(DurationText(absl::Microseconds(850)), "850 us");
  EXPECT_EQ(DurationText(absl::Microseconds(8100)), "8.10 ms");
  EXPECT_EQ(DurationText(absl::Microseconds(12'345)), "12.3 ms");
  EXPECT_EQ(DurationText(absl::Milliseconds(999)), "999 ms");
  EXPECT_EQ(DurationText(absl::Milliseconds(1234)), "1.23 s");
  EXPECT_EQ(DurationText(absl::Milliseconds(9'999)), "10.0 s");
  EXPECT_EQ(DurationText(absl::Seconds(75)), "75.0 s");
  EXPECT_EQ(DurationText(absl::Seconds(1234)), "1234 s");
}

TEST(BytesTextTest, UsesPowersOf1024) {
  EXPECT_EQ(BytesText(0), "0 B");
  EXPECT_EQ(BytesText(1023), "1023 B");
  EXPECT_EQ(BytesText(1536), "1.5 KiB");
  EXPECT_EQ(BytesText(64u << 20), "64.0 MiB");
  EXPECT_EQ(BytesText((1u << 20) - 1), "1.0 MiB");
  EXPECT_EQ(BytesText(std::numeric_limits<uint64_t>::max()), "16.0 EiB");
}

TEST(OneLineTest, MakesOneSpaceOfWhiteSpaceAndNoneAtTheEnds) {
  EXPECT_EQ(OneLine("  a\t\tb\r\n c  "), "a b c");
  EXPECT_EQ(OneLine(" \n "), "");
}

TEST(OneLineTest, RemovesWhatWouldDriveATerminal) {
  EXPECT_EQ(OneLine("a\x1b[31mred\x07"), "a [31mred");
  EXPECT_EQ(OneLine(std::string_view("a\0b", 3)), "a b");
  EXPECT_EQ(OneLine("a\x7f"), "a");
  EXPECT_EQ(OneLine("a\xC2\x9B"
                    "31m"),
            "a 31m");
}

TEST(OneLineTest, KeepsOtherCharactersOfSeveralBytes) {
  EXPECT_EQ(OneLine("Grüße, 世界\xC2\xA0!"), "Grüße, 世界\xC2\xA0!");
}

TEST(ColumnsTest, CutsBetweenCharacters) {
  EXPECT_EQ(ColumnsOf("Grüße"), 5u);
  EXPECT_EQ(FirstColumns("Grüße", 3), "Grü");
  EXPECT_EQ(LastColumns("Grüße", 3), "üße");
  EXPECT_EQ(FirstColumns("ab", 5), "ab");
  EXPECT_EQ(LastColumns("ab", 5), "ab");
  EXPECT_EQ(LastColumns("ab", 0), "");
}

TEST(ColumnsTest, CountsWideCharactersTwiceAndCombiningOnesNot) {
  EXPECT_EQ(ColumnsOf("世界"), 4u);
  EXPECT_EQ(ColumnsOf("e\u0301te\u0301"), 3u);
  EXPECT_EQ(ColumnsOf("\U0001F600"), 2u);
  EXPECT_EQ(FirstColumns("世界", 3), "世");
  EXPECT_EQ(FirstColumns("e\u0301te", 1), "e\u0301");
  EXPECT_EQ(LastColumns("a世界", 4), "世界");
  EXPECT_EQ(LastColumns("a世界", 3), "界");
  EXPECT_EQ(LastColumns("xe\u0301y", 1), "y") << "no accent without its letter";
}

TEST(ColumnsTest, CountsWhatIsNoUtf8AsOne) {
  EXPECT_EQ(ColumnsOf("\xFF\x80z\xE4\xB8"), 3u);
  EXPECT_EQ(FirstColumns("\xE4\xB8", 1), "\xE4\xB8");
}

TEST(CountTextTest, KnowsOneFromMany) {
  EXPECT_EQ(CountText(0, "segment"), "0 segments");
  EXPECT_EQ(CountText(1, "segment"), "1 segment");
  EXPECT_EQ(CountText(2, "segment"), "2 segments");
}

}  // namespace
}  // namespace superfluid::ctl
