#include "engine/whisper/segment_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace superfluid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

RawToken Text(const std::string& bytes, int64_t start, int64_t end, float probability = 0.5F) {
  return {.id = 1,
          .is_text = true,
          .bytes = bytes,
          .probability = probability,
          .logprob = std::log(probability),
          .start = start,
          .end = end};
}

RawToken Time() { return {.id = 50'364}; }

RawSegment Raw(int64_t start, int64_t end, std::vector<RawToken> tokens) {
  RawSegment raw;
  raw.start = start;
  raw.end = end;
  raw.tokens = std::move(tokens);
  raw.no_speech_prob = 0.25F;
  raw.temperature = 0.2F;
  return raw;
}

std::vector<std::string> Texts(const TranscribedSegment& segment) {
  std::vector<std::string> texts;
  for (const TranscribedWord& word : segment.words) texts.push_back(word.text);
  return texts;
}

class SegmentBuilderTest : public testing::Test {
 protected:
  std::optional<TranscribedSegment> Build(const RawSegment& raw, const char* language = "en") {
    return builder_.Build(raw, 1000, 9000, language);
  }

  SegmentBuilder builder_{true};
};

TEST_F(SegmentBuilderTest, JoinsTokensToWordsAtSpaces) {
  const auto segment = Build(Raw(10, 200,
                                 {Time(), Text(" un", 10, 40, 0.9F), Text("real", 40, 60, 0.7F),
                                  Text(",", 60, 61, 0.8F), Text(" is", 80, 120, 0.5F), Time()}));
  ASSERT_TRUE(segment.has_value());
  EXPECT_EQ(segment->text, "unreal, is");
  EXPECT_EQ(segment->start_ms, 1100);
  EXPECT_EQ(segment->end_ms, 3000);
  EXPECT_THAT(Texts(*segment), ElementsAre("unreal,", "is"));
  EXPECT_EQ(segment->words[0].start_ms, 1100);
  EXPECT_EQ(segment->words[0].end_ms, 1610);
  EXPECT_NEAR(segment->words[0].probability, 0.8, 1e-6);
  EXPECT_NEAR(segment->words[1].probability, 0.5, 1e-6);
  EXPECT_NEAR(segment->avg_logprob,
              (std::log(0.9) + std::log(0.7) + std::log(0.8) + std::log(0.5)) / 4, 1e-6);
  EXPECT_FLOAT_EQ(segment->no_speech_prob, 0.25F);
  EXPECT_FLOAT_EQ(segment->temperature, 0.2F);
  EXPECT_GT(segment->compression_ratio, 0);
}

TEST_F(SegmentBuilderTest, ACharacterThatASegmentCutsGoesToTheNext) {
  const auto first = Build(Raw(0, 100, {Text(" a", 0, 20), Text(" \xE6\x97", 20, 100)}));
  const auto second = Build(Raw(100, 200, {Text("\xA5", 100, 120), Text(" b", 120, 200)}));
  ASSERT_TRUE(first.has_value());
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(first->text, "a");
  EXPECT_THAT(Texts(*first), ElementsAre("a"));
  EXPECT_EQ(second->text, "\u65e5 b");
  EXPECT_THAT(Texts(*second), ElementsAre("\u65e5", "b"));
}

TEST_F(SegmentBuilderTest, APartialCopyTakesNothingAway) {
  Build(Raw(0, 100, {Text(" a\xE6\x97", 0, 100)}));
  SegmentBuilder copy = builder_;
  const auto partial = copy.Build(Raw(100, 300, {Text("\xA5!", 100, 300)}), 1000, 9000, "en");
  ASSERT_TRUE(partial.has_value());
  EXPECT_EQ(partial->text, "\u65e5!");
  EXPECT_EQ(Build(Raw(100, 300, {Text("\xA5?", 100, 300)}))->text, "\u65e5?");
}

TEST_F(SegmentBuilderTest, LanguagesWithoutSpacesHaveAWordAToken) {
  const RawSegment raw = Raw(0, 90,
                             {Text("\u65e5\u672c", 0, 30), Text("\xE8\xAA", 30, 40),
                              Text("\x9E", 40, 60), Text("\u3002", 60, 90)});
  EXPECT_THAT(Texts(*Build(raw, "ja")), ElementsAre("\u65e5\u672c", "\u8a9e", "\u3002"));
  SegmentBuilder other(true);
  EXPECT_THAT(Texts(*other.Build(raw, 0, 9000, "ko")), ElementsAre("\u65e5\u672c\u8a9e\u3002"));
}

TEST_F(SegmentBuilderTest, TimesDoNotRunBackwardsAndStayInTheAudio) {
  ASSERT_TRUE(Build(Raw(0, 300, {Text(" a", 0, 300)})).has_value());
  const auto late = Build(Raw(200, 100, {Text(" b", 250, 90), Text(" c", -1, -1)}));
  ASSERT_TRUE(late.has_value());
  EXPECT_EQ(late->start_ms, 4000) << "not before the end of the last";
  EXPECT_EQ(late->end_ms, 4000);
  for (const TranscribedWord& word : late->words) {
    EXPECT_EQ(word.start_ms, 4000);
    EXPECT_EQ(word.end_ms, 4000);
  }
  const auto beyond = Build(Raw(500, 3000, {Text(" d", 500, 3000)}));
  EXPECT_EQ(beyond->end_ms, 9000) << "the audio ends here";
  EXPECT_EQ(builder_.last_end_ms(), 9000);
}

TEST_F(SegmentBuilderTest, NoTextIsNoSegment) {
  EXPECT_FALSE(Build(Raw(0, 100, {})).has_value());
  EXPECT_FALSE(Build(Raw(0, 100, {Time(), Time()})).has_value());
  EXPECT_FALSE(Build(Raw(0, 100, {Text(" ", 0, 100), Text("\n", 0, 100)})).has_value());
  EXPECT_EQ(builder_.last_end_ms(), 0);
}

TEST_F(SegmentBuilderTest, WordsOnlyIfAsked) {
  SegmentBuilder builder(false);
  const auto segment = builder.Build(Raw(0, 100, {Text(" a", 0, 100)}), 0, 9000, "en");
  EXPECT_THAT(segment->words, IsEmpty());
}

TEST_F(SegmentBuilderTest, FiguresAreFinite) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  RawSegment raw = Raw(0, 100, {Text(" a", 0, 50), Text(" b", 50, 100)});
  raw.tokens[0].logprob = -infinity;
  raw.tokens[1].logprob = nan;
  raw.tokens[1].probability = nan;
  raw.no_speech_prob = nan;
  const auto segment = Build(raw);
  EXPECT_EQ(segment->avg_logprob, -100);
  EXPECT_EQ(segment->no_speech_prob, 0);
  EXPECT_EQ(segment->words[1].probability, 0);
}

TEST(CompressionRatioTest, RepetitionShows) {
  EXPECT_EQ(CompressionRatio(""), 0);
  std::string repeated;
  for (int i = 0; i < 50; ++i) repeated += " thank you";
  EXPECT_GT(CompressionRatio(repeated), 10);
  EXPECT_LT(CompressionRatio("ask not what your country can do"), 1.2F);
}

}  // namespace
}  // namespace superfluid
