#include "engine/whisper/speech_finder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace superfluid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr float kThreshold = 0.5F;

// Runs of blocks with the same probability.
struct Run {
  int blocks;
  float probability;
};

std::vector<float> Probabilities(const std::vector<Run>& runs) {
  std::vector<float> probabilities;
  for (const Run& run : runs) {
    probabilities.insert(probabilities.end(), static_cast<size_t>(run.blocks), run.probability);
  }
  return probabilities;
}

FoundSpeech Find(const std::vector<Run>& runs) {
  return FindSpeech(Probabilities(runs), kThreshold);
}

SpeechRegion Blocks(int64_t begin, int64_t end) {
  return {begin * kSpeechBlockSamples, end * kSpeechBlockSamples};
}

SpeechRegion Padded(SpeechRegion region) { return {region.begin - 480, region.end + 480}; }

TEST(FindSpeechTest, NothingInNothing) {
  EXPECT_THAT(Find({}).regions, IsEmpty());
  EXPECT_EQ(Find({}).unfinished, -1);
  EXPECT_THAT(Find({{100, 0.4F}}).regions, IsEmpty());
}

TEST(FindSpeechTest, OneRegionIsPadded) {
  const FoundSpeech found = Find({{10, 0}, {20, 0.9F}, {10, 0}});
  EXPECT_THAT(found.regions, ElementsAre(Padded(Blocks(10, 30))));
  EXPECT_EQ(found.unfinished, -1);
}

TEST(FindSpeechTest, PaddingStaysInTheAudio) {
  EXPECT_THAT(Find({{20, 0.9F}}).regions, ElementsAre(Blocks(0, 20)));
}

TEST(FindSpeechTest, AQuarterOfASecondIsTheLeast) {
  EXPECT_THAT(Find({{10, 0}, {7, 0.9F}, {10, 0}}).regions, IsEmpty());
  EXPECT_THAT(Find({{10, 0}, {8, 0.9F}, {10, 0}}).regions, ElementsAre(Padded(Blocks(10, 18))));
}

TEST(FindSpeechTest, AShortSilenceIsPartOfTheSpeech) {
  EXPECT_THAT(Find({{10, 0}, {20, 0.9F}, {3, 0}, {20, 0.9F}, {10, 0}}).regions,
              ElementsAre(Padded(Blocks(10, 53))));
}

TEST(FindSpeechTest, CloseRegionsAreMergedOthersNot) {
  EXPECT_THAT(Find({{10, 0}, {20, 0.9F}, {6, 0}, {20, 0.9F}, {10, 0}}).regions,
              ElementsAre(Padded(Blocks(10, 56))));
  EXPECT_THAT(Find({{10, 0}, {20, 0.9F}, {7, 0}, {20, 0.9F}, {10, 0}}).regions,
              ElementsAre(Padded(Blocks(10, 30)), Padded(Blocks(37, 57))));
}

TEST(FindSpeechTest, BetweenTheThresholdsNothingChanges) {
  EXPECT_THAT(Find({{10, 0.4F}, {20, 0.9F}, {30, 0.4F}, {10, 0}}).regions,
              ElementsAre(Padded(Blocks(10, 60))));
}

TEST(FindSpeechTest, SpeechAtTheEndIsUnfinished) {
  const FoundSpeech found = Find({{10, 0}, {20, 0.9F}});
  EXPECT_THAT(found.regions, ElementsAre(SpeechRegion{int64_t{10} * 512 - 480, int64_t{30} * 512}));
  EXPECT_EQ(found.unfinished, 10 * kSpeechBlockSamples);
  const FoundSpeech brief = Find({{10, 0}, {3, 0.9F}});
  EXPECT_THAT(brief.regions, IsEmpty());
  EXPECT_EQ(brief.unfinished, 10 * kSpeechBlockSamples);
}

}  // namespace
}  // namespace superfluid
