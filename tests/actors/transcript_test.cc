#include "actors/transcription/transcript.h"

#include <string>

#include "gtest/gtest.h"
#include "protocol/codec/codec.h"

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

TEST(TranscriptTest, ASegmentThatNoReaderTakesHasNoRoom) {
  const Transcript transcript;
  const TranscribedWord word{.text = "a"};
  EXPECT_TRUE(transcript.HasRoomFor({.text = std::string(65'536, 'a')}));
  EXPECT_TRUE(transcript.HasRoomFor({.words = {4096, word}}));
  EXPECT_FALSE(transcript.HasRoomFor({.text = std::string(65'537, 'a')}));
  EXPECT_FALSE(transcript.HasRoomFor({.words = {4097, word}}));
  EXPECT_FALSE(transcript.HasRoomFor({.words = {TranscribedWord{.text = std::string(4097, 'a')}}}));
  EXPECT_FALSE(transcript.HasRoomFor({.text = std::string(22'000, '\xff')}))
      << "each byte becomes three";
}

TEST(TranscriptTest, TheAnswerFitsIntoAFrameWithAllThatHadRoom) {
  constexpr uint32_t kMaxFrame = 65'536;
  Transcript transcript(kMaxFrame);
  const TranscribedSegment segment = {
      .start_ms = -1,
      .end_ms = -1,
      .text = std::string(100, '\xff'),
      .avg_logprob = -1,
      .no_speech_prob = 1,
      .compression_ratio = 1,
      .temperature = 1,
      .words = {10, TranscribedWord{.start_ms = -1, .end_ms = -1, .text = "w", .probability = 1}}};
  int added = 0;
  while (transcript.HasRoomFor(segment)) {
    transcript.Add(segment, {});
    ++added;
  }
  EXPECT_GT(added, 30);
  const linkw::EncodedMessage answer = linkw::Serialize(
      linkw::WorkerMessage(linkw::StateSyncResult{.reply = transcript.TakeResult({})}));
  EXPECT_LE(answer.payload.size(), kMaxFrame);
}

}  // namespace
}  // namespace superfluid
