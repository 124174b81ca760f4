#include "engine/abi/segment_intake.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace superfluid {
namespace {

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

class SegmentIntakeTest : public ::testing::Test {
 protected:
  sfl_segment Raw(int64_t start_ms, int64_t end_ms) {
    sfl_segment raw = {};
    raw.struct_size = sizeof raw;
    raw.start_ms = start_ms;
    raw.end_ms = end_ms;
    raw.text = {"text", 4};
    raw.words = words_.data();
    raw.word_count = words_.size();
    raw.word_size = sizeof(sfl_word);
    return raw;
  }
  void AddWord(int64_t start_ms, int64_t end_ms, float probability = 1) {
    words_.push_back({start_ms, end_ms, {"w", 1}, probability, 0});
  }
  TranscribedSegment Take(const sfl_segment& raw, int64_t audio_ms = 10'000) {
    auto taken = intake_.Take(&raw, audio_ms);
    EXPECT_TRUE(taken.ok()) << taken.status();
    return taken.ok() ? *std::move(taken) : TranscribedSegment{};
  }
  void ExpectRefused(const sfl_segment* raw) {
    EXPECT_EQ(intake_.Take(raw, 10'000).status().code(), absl::StatusCode::kInvalidArgument);
  }

  std::vector<sfl_word> words_;
  SegmentIntake intake_;
};

TEST_F(SegmentIntakeTest, CopiesAGoodSegment) {
  AddWord(100, 300, 0.25F);
  AddWord(300, 900, 0.75F);
  sfl_segment raw = Raw(100, 900);
  raw.avg_logprob = -2;
  raw.no_speech_prob = 0.5F;
  raw.compression_ratio = 3;
  raw.temperature = 0.2F;
  const TranscribedSegment taken = Take(raw);
  EXPECT_EQ(taken.start_ms, 100);
  EXPECT_EQ(taken.end_ms, 900);
  EXPECT_EQ(taken.text, "text");
  EXPECT_FALSE(taken.is_partial);
  EXPECT_EQ(taken.avg_logprob, -2);
  EXPECT_EQ(taken.no_speech_prob, 0.5F);
  EXPECT_EQ(taken.compression_ratio, 3);
  EXPECT_EQ(taken.temperature, 0.2F);
  ASSERT_EQ(taken.words.size(), 2U);
  EXPECT_EQ(taken.words[1].start_ms, 300);
  EXPECT_EQ(taken.words[1].end_ms, 900);
  EXPECT_EQ(taken.words[1].text, "w");
  EXPECT_EQ(taken.words[1].probability, 0.75F);
  EXPECT_EQ(intake_.repaired(), 0U);
}

TEST_F(SegmentIntakeTest, FinalSegmentsNeverGoBack) {
  Take(Raw(0, 500));
  const TranscribedSegment back = Take(Raw(100, 300));
  EXPECT_EQ(back.start_ms, 500);
  EXPECT_EQ(back.end_ms, 500);
  const TranscribedSegment overlap = Take(Raw(400, 800));
  EXPECT_EQ(overlap.start_ms, 500);
  EXPECT_EQ(overlap.end_ms, 800);
  EXPECT_EQ(intake_.repaired(), 2U);
}

TEST_F(SegmentIntakeTest, PartialSegmentsDoNotHoldUpFinalOnes) {
  sfl_segment partial = Raw(0, 900);
  partial.flags = SFL_SEGMENT_PARTIAL;
  EXPECT_TRUE(Take(partial).is_partial);
  EXPECT_EQ(Take(Raw(100, 500)).start_ms, 100);
  EXPECT_EQ(intake_.repaired(), 0U);
}

TEST_F(SegmentIntakeTest, TimesStayInsideTheAudioRead) {
  const TranscribedSegment taken = Take(Raw(kMin, kMax), 750);
  EXPECT_EQ(taken.start_ms, 0);
  EXPECT_EQ(taken.end_ms, 750);
  // One absurd end must not spoil the segments after it.
  const TranscribedSegment next = Take(Raw(800, 900), 1000);
  EXPECT_EQ(next.start_ms, 800);
  EXPECT_EQ(next.end_ms, 900);
}

TEST_F(SegmentIntakeTest, EndsBeforeStartsAreMoved) {
  const TranscribedSegment taken = Take(Raw(500, 100));
  EXPECT_EQ(taken.start_ms, 500);
  EXPECT_EQ(taken.end_ms, 500);
}

TEST_F(SegmentIntakeTest, WordsStayInOrderInsideTheirSegment) {
  AddWord(kMin, 200);
  AddWord(150, 100);
  AddWord(400, kMax);
  AddWord(kMax, kMin);
  const TranscribedSegment taken = Take(Raw(100, 500));
  const std::vector<std::pair<int64_t, int64_t>> expected = {
      {100, 200}, {200, 200}, {400, 500}, {500, 500}};
  ASSERT_EQ(taken.words.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(taken.words[i].start_ms, expected[i].first) << i;
    EXPECT_EQ(taken.words[i].end_ms, expected[i].second) << i;
  }
}

TEST_F(SegmentIntakeTest, NumbersThatAreNoneBecomeZero) {
  AddWord(0, 1, kNan);
  AddWord(1, 2, -1);
  AddWord(2, 3, 2);
  sfl_segment raw = Raw(0, 500);
  raw.avg_logprob = kNan;
  raw.no_speech_prob = kInfinity;
  raw.compression_ratio = -1;
  raw.temperature = -kInfinity;
  const TranscribedSegment taken = Take(raw);
  EXPECT_EQ(taken.avg_logprob, 0);
  EXPECT_EQ(taken.no_speech_prob, 0);
  EXPECT_EQ(taken.compression_ratio, 0);
  EXPECT_EQ(taken.temperature, 0);
  EXPECT_EQ(taken.words[0].probability, 0);
  EXPECT_EQ(taken.words[1].probability, 0);
  EXPECT_EQ(taken.words[2].probability, 1);
  EXPECT_EQ(intake_.repaired(), 1U);
}

TEST_F(SegmentIntakeTest, TextIsMadeValid) {
  sfl_segment raw = Raw(0, 500);
  raw.text = {"caf\xC3", 4};
  EXPECT_EQ(Take(raw).text, "caf\xEF\xBF\xBD");
  EXPECT_EQ(intake_.repaired(), 1U);
}

TEST_F(SegmentIntakeTest, WordsOfALaterVersionAreLonger) {
  struct LaterWord {
    sfl_word word;
    uint64_t more;
  };
  const std::array<LaterWord, 2> later = {
      {{{0, 100, {"one", 3}, 1, 0}, ~0ULL}, {{100, 200, {"two", 3}, 1, 0}, ~0ULL}}};
  sfl_segment raw = Raw(0, 500);
  raw.words = &later[0].word;
  raw.word_count = later.size();
  raw.word_size = sizeof(LaterWord);
  const TranscribedSegment taken = Take(raw);
  ASSERT_EQ(taken.words.size(), 2U);
  EXPECT_EQ(taken.words[1].text, "two");
}

TEST_F(SegmentIntakeTest, PointersNeedNotBeAligned) {
  AddWord(0, 100);
  std::vector<char> memory(sizeof(sfl_segment) + sizeof(sfl_word) + 2);
  char* const raw_word = memory.data() + 1 + sizeof(sfl_segment);
  sfl_segment raw = Raw(0, 500);
  raw.words = reinterpret_cast<const sfl_word*>(raw_word);
  std::memcpy(memory.data() + 1, &raw, sizeof raw);
  std::memcpy(raw_word, words_.data(), sizeof(sfl_word));
  const auto taken = intake_.Take(reinterpret_cast<const sfl_segment*>(memory.data() + 1), 10'000);
  ASSERT_TRUE(taken.ok()) << taken.status();
  EXPECT_EQ(taken->words.size(), 1U);
}

TEST_F(SegmentIntakeTest, RefusesNullPointersWithCounts) {
  ExpectRefused(nullptr);
  sfl_segment raw = Raw(0, 500);
  raw.text = {nullptr, 1};
  ExpectRefused(&raw);
  raw = Raw(0, 500);
  raw.words = nullptr;
  raw.word_count = 1;
  ExpectRefused(&raw);
  AddWord(0, 1);
  words_[0].text = {nullptr, 1};
  raw = Raw(0, 500);
  ExpectRefused(&raw);
}

TEST_F(SegmentIntakeTest, RefusesCountsAndSizesOverTheLimits) {
  AddWord(0, 1);
  sfl_segment raw = Raw(0, 500);
  raw.word_count = SFL_MAX_WORDS + 1;
  ExpectRefused(&raw);
  raw.word_count = std::numeric_limits<size_t>::max();
  ExpectRefused(&raw);
  raw = Raw(0, 500);
  raw.text.size = SFL_MAX_TEXT_BYTES + 1;
  ExpectRefused(&raw);
  words_[0].text.size = SFL_MAX_WORD_BYTES + 1;
  raw = Raw(0, 500);
  ExpectRefused(&raw);
}

TEST_F(SegmentIntakeTest, RefusesSizesThatCannotBe) {
  AddWord(0, 1);
  sfl_segment raw = Raw(0, 500);
  raw.struct_size = sizeof raw - 1;
  ExpectRefused(&raw);
  for (const size_t size : {size_t{0}, sizeof(sfl_word) - 1, size_t{4097}, size_t{~0ULL}}) {
    raw = Raw(0, 500);
    raw.word_size = size;
    ExpectRefused(&raw);
  }
}

TEST_F(SegmentIntakeTest, ARefusedSegmentLeavesNoTrace) {
  AddWord(0, 1);
  words_[0].text = {nullptr, 1};
  const sfl_segment raw = Raw(0, 5000);
  ExpectRefused(&raw);
  words_.clear();
  EXPECT_EQ(Take(Raw(100, 200)).start_ms, 100);
  EXPECT_EQ(intake_.repaired(), 0U);
}

}  // namespace
}  // namespace superfluid
