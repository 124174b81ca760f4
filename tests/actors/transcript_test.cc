#include "actors/transcript.h"

#include "gtest/gtest.h"

namespace superfluid {
namespace {

TranscribedSegment Segment(int64_t start_ms, int64_t end_ms, std::string text) {
  TranscribedSegment segment;
  segment.start_ms = start_ms;
  segment.end_ms = end_ms;
  segment.text = std::move(text);
  return segment;
}

TEST(TranscriptTest, TextIsJoinedWithOneSpaceWhereThereIsNone) {
  Transcript transcript;
  transcript.Add(Segment(0, 1, "one"), {});
  transcript.Add(Segment(1, 2, " two"), {});
  transcript.Add(Segment(2, 3, ""), {});
  transcript.Add(Segment(3, 4, "three "), {});
  transcript.Add(Segment(4, 5, "four"), {});
  EXPECT_EQ(transcript.text(), "one two three four");
}

TEST(TranscriptTest, TextHasNoBlanksWhereTheWritingHasNone) {
  Transcript transcript;
  transcript.Add(Segment(0, 1, "こんにちは。"), {});
  transcript.Add(Segment(1, 2, "世界"), {});
  EXPECT_EQ(transcript.text(), "こんにちは。世界");
}

TEST(TranscriptTest, TimesNeverGoBackwards) {
  Transcript transcript;
  transcript.Add(Segment(100, 500, "a"), {});
  const linkw::TranscribeSegment second = transcript.Add(Segment(50, 40, "b"), {});
  EXPECT_EQ(second.start_ms, 500);
  EXPECT_EQ(second.end_ms, 500);
}

TEST(TranscriptTest, WordsStayInsideTheirSegmentAndInOrder) {
  Transcript transcript;
  TranscribedSegment segment = Segment(100, 200, "a b c");
  segment.words = {{.start_ms = 50, .end_ms = 120, .text = "a"},
                   {.start_ms = 110, .end_ms = 90, .text = "b"},
                   {.start_ms = 105, .end_ms = 900, .text = "c"}};
  const linkw::TranscribeSegment sent = transcript.Add(segment, {});
  EXPECT_EQ(sent.words[0].start_ms, 100);
  EXPECT_EQ(sent.words[1].start_ms, 110);
  EXPECT_EQ(sent.words[1].end_ms, 110);
  EXPECT_EQ(sent.words[2].start_ms, 110);
  EXPECT_EQ(sent.words[2].end_ms, 200);
}

TEST(TranscriptTest, PartialSegmentsAreNumberedAndNotKept) {
  Transcript transcript;
  transcript.Add(Segment(0, 1, "one"), {});
  TranscribedSegment partial = Segment(1, 2, "tw");
  partial.is_partial = true;
  EXPECT_EQ(transcript.Add(partial, {}).index, 1u);
  EXPECT_EQ(transcript.Add(Segment(1, 2, "two"), {}).index, 1u);
  const linkw::TranscribeResult result =
      transcript.TakeResult({.language = "en", .audio_ms = 2000, .audio_total_ms = 3000});
  EXPECT_EQ(result.segments.size(), 2u);
  EXPECT_EQ(result.text, "one two");
  EXPECT_EQ(result.language, "en");
  EXPECT_EQ(result.duration_ms, 2000);
  EXPECT_EQ(result.stats.audio_total_ms, 3000u);
}

}  // namespace
}  // namespace superfluid
