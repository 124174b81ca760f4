#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "tests/tools/ctl/sample_transcript.h"
#include "tools/ctl/formats/cue_text.h"
#include "tools/ctl/formats/srt_format.h"
#include "tools/ctl/formats/vtt_format.h"

namespace superfluid::ctl {
namespace {

constexpr absl::Duration kNow = absl::Seconds(1);

TEST(CueTextTest, HasNoEmptyLineThatWouldEndTheCue) {
  EXPECT_EQ(CueText(" one \r\n\r\n \n two\n"), "one\ntwo");
  EXPECT_EQ(CueText(" \n\t\r\n"), "");
  EXPECT_EQ(CueText(""), "");
}

TEST(CueTimesTest, EndAfterTheyStart) {
  const CueTimes times = CueTimesOf(MakeSegment(0, 500, 500, "x"));
  EXPECT_EQ(times.start_ms, 500);
  EXPECT_EQ(times.end_ms, 501);
}

TEST(CueTimesTest, SurviveAnyNumber) {
  constexpr int64_t min = std::numeric_limits<int64_t>::min();
  constexpr int64_t max = std::numeric_limits<int64_t>::max();
  const CueTimes negative = CueTimesOf(MakeSegment(0, min, min, "x"));
  EXPECT_EQ(negative.start_ms, 0);
  EXPECT_EQ(negative.end_ms, 1);
  const CueTimes huge = CueTimesOf(MakeSegment(0, max, max, "x"));
  EXPECT_GT(huge.end_ms, huge.start_ms);
}

class SubtitleTest : public testing::Test {
 protected:
  static std::string Document(TranscriptFormat& format) {
    const TranscriptionOutcome outcome = MakeOutcome();
    std::string text = format.Begin();
    for (const linkw::TranscriptSegment& segment : outcome.result.segments) {
      text += format.Segment(linkw::TranscribeSegment{segment}, kNow);
    }
    return text + format.End(outcome);
  }
};

TEST_F(SubtitleTest, WritesSrt) {
  SrtFormat srt;
  EXPECT_EQ(Document(srt),
            "1\n"
            "00:00:01,230 --> 00:00:03,450\n"
            "one two\n"
            "\n"
            "2\n"
            "00:00:04,000 --> 00:00:05,000\n"
            "three\n"
            "\n");
}

TEST_F(SubtitleTest, WritesVtt) {
  VttFormat vtt;
  EXPECT_EQ(Document(vtt),
            "WEBVTT\n"
            "\n"
            "00:00:01.230 --> 00:00:03.450\n"
            "one two\n"
            "\n"
            "00:00:04.000 --> 00:00:05.000\n"
            "three\n"
            "\n");
}

TEST_F(SubtitleTest, MarksWordsInVtt) {
  VttFormat vtt(/*words=*/true);
  EXPECT_EQ(Document(vtt),
            "WEBVTT\n"
            "\n"
            "00:00:01.230 --> 00:00:03.450\n"
            "one <00:00:02.000>two\n"
            "\n"
            "00:00:04.000 --> 00:00:05.000\n"
            "three\n"
            "\n");
}

TEST_F(SubtitleTest, PutsNoBlanksBetweenWordsThatHaveNoneInTheText) {
  VttFormat vtt(/*words=*/true);
  linkw::TranscribeSegment segment = MakeSegment(0, 1000, 2000, "今日はOKです don't");
  segment.words = {{1000, 1100, "今日", 1}, {1200, 1300, "は", 1},  {1400, 1500, "OK", 1},
                   {1600, 1700, "です", 1}, {1700, 1800, "don", 1}, {1800, 1900, "'t", 1}};
  EXPECT_EQ(vtt.Segment(segment, kNow),
            "00:00:01.000 --> 00:00:02.000\n今日<00:00:01.200>は<00:00:01.400>OK<00:00:01.600>です "
            "<00:00:01.700>don<00:00:01.800>'t\n\n");
  segment.text = "";
  segment.words = {{1000, 1100, "สวัสดี", 1}, {1200, 1300, "ครับ", 1}};
  EXPECT_EQ(vtt.Segment(segment, kNow), "00:00:01.000 --> 00:00:02.000\nสวัสดี<00:00:01.200>ครับ\n\n");
}

TEST_F(SubtitleTest, LeavesOutMarksThatAreNotInsideTheCueOrDoNotIncrease) {
  linkw::TranscribeSegment segment = MakeSegment(0, 1000, 2000, "a b c d");
  segment.words = {
      {900, 1000, "a", 1}, {1500, 1600, "b", 1}, {1400, 1500, "c<", 1}, {2000, 2100, "d", 1}};
  VttFormat vtt(/*words=*/true);
  EXPECT_EQ(vtt.Segment(segment, kNow),
            "00:00:01.000 --> 00:00:02.000\na <00:00:01.500>b c&lt; d\n\n");
}

TEST_F(SubtitleTest, EscapesVtt) {
  VttFormat vtt;
  EXPECT_EQ(vtt.Segment(MakeSegment(0, 0, 1000, "<i>R&D</i> --> x"), kNow),
            "00:00:00.000 --> 00:00:01.000\n&lt;i&gt;R&amp;D&lt;/i&gt; --&gt; x\n\n");
}

TEST_F(SubtitleTest, MakesNoCueWithoutText) {
  SrtFormat srt;
  EXPECT_EQ(srt.Segment(MakeSegment(0, 0, 1000, " \n"), kNow), "");
  EXPECT_EQ(srt.Segment(MakeSegment(1, 1000, 2000, "x"), kNow),
            "1\n00:00:01,000 --> 00:00:02,000\nx\n\n");
  VttFormat vtt;
  EXPECT_EQ(vtt.Segment(MakeSegment(0, 0, 1000, ""), kNow), "");
}

TEST_F(SubtitleTest, LeavesOutPartialSegments) {
  SrtFormat srt;
  VttFormat vtt;
  EXPECT_EQ(srt.Segment(MakePartial(0, 0, 1000, "x"), kNow), "");
  EXPECT_EQ(vtt.Segment(MakePartial(0, 0, 1000, "x"), kNow), "");
}

}  // namespace
}  // namespace superfluid::ctl
