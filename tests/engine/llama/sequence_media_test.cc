#include "engine/generation/sequence_media.h"

#include <gtest/gtest.h>

#include <memory>

#include "engine/llama/state_image.h"

namespace superfluid {
namespace {

// Two tokens of text, three rows of two numbers, one token of text.
MediaItemRef Item(uint64_t fingerprint, bool non_causal = false) {
  auto item = std::make_shared<MediaItem>();
  item->parts.resize(3);
  item->parts[0] = {.start = 0, .count = 2, .text = {7, 8}, .rows = {}, .non_causal = false};
  item->parts[1] = {
      .start = 2, .count = 3, .text = {}, .rows = {0, 1, 2, 3, 4, 5}, .non_causal = non_causal};
  item->parts[2] = {.start = 5, .count = 1, .text = {9}, .rows = {}, .non_causal = false};
  item->tokens = 6;
  item->fingerprint = fingerprint;
  return item;
}

TEST(SequenceMediaTest, SaysWhereOneKindEnds) {
  SequenceMedia media;
  EXPECT_TRUE(media.empty());
  EXPECT_EQ(media.At(0).end, UINT64_MAX);
  media.Add(10, Item(5));
  EXPECT_FALSE(media.empty());
  EXPECT_EQ(media.At(3).end, 10U);
  EXPECT_EQ(media.At(3).part, nullptr);
  EXPECT_EQ(media.At(11).end, 12U);
  EXPECT_EQ(media.At(11).part->text[media.At(11).index], 8U);
  EXPECT_EQ(media.At(13).end, 15U);
  EXPECT_EQ(media.At(13).part->Row(media.At(13).index)[1], 3);
  EXPECT_EQ(media.At(15).end, 16U);
  EXPECT_EQ(media.At(16).end, UINT64_MAX);
  EXPECT_FALSE(media.At(16).missing);
}

TEST(SequenceMediaTest, OneThatIsCutEndsThereAndAnotherMayFollow) {
  SequenceMedia media;
  media.Add(10, Item(5));
  media.Cut(13);
  EXPECT_EQ(media.At(12).end, 13U);
  EXPECT_EQ(media.At(13).part, nullptr);
  media.Add(13, Item(5));
  EXPECT_EQ(media.At(12).end, 13U);
  EXPECT_EQ(media.At(13).index, 0U);
  EXPECT_EQ(media.At(13).end, 15U);
  media.Cut(10);
  EXPECT_TRUE(media.empty());
  EXPECT_EQ(media.At(11).end, UINT64_MAX);
}

TEST(SequenceMediaTest, RestoredOnesLackTheItemsUntilTheyAreFound) {
  SequenceMedia media;
  MediaMap marks;
  for (uint64_t i = 3; i < 12; ++i) marks[i] = 5;  // one and a half
  marks[12] = 6;
  media.Replace(marks);
  EXPECT_TRUE(media.Complete(0, 3));
  EXPECT_FALSE(media.Complete(0, 4));
  EXPECT_TRUE(media.At(5).missing);
  media.Attach([](uint64_t fingerprint) { return fingerprint == 5 ? Item(5) : nullptr; });
  EXPECT_TRUE(media.Complete(0, 12));
  EXPECT_FALSE(media.Complete(0, 13));
  EXPECT_EQ(media.At(9).index, 0U);
  EXPECT_EQ(media.At(11).end, 12U);
  media.Attach([](uint64_t fingerprint) { return Item(fingerprint); });
  EXPECT_TRUE(media.Complete(0, 100));
  EXPECT_EQ(media.marks(), marks);
}

TEST(SequenceMediaTest, WhatIsComputedAtOnceCannotBeCut) {
  SequenceMedia media;
  media.Add(10, Item(5, /*non_causal=*/true));
  for (uint64_t i = 0; i < 20; ++i) EXPECT_EQ(media.Splits(i), i == 13 || i == 14) << i;
  media.Cut(0);
  media.Add(10, Item(5));
  EXPECT_FALSE(media.Splits(13));
}

TEST(MediaRunsTest, AreAsLongAsTheyCanBe) {
  const MediaMap media = {{2, 5}, {3, 5}, {4, 6}, {6, 6}, {9, 6}};
  const auto runs = MediaRuns(media, {3, 9});
  ASSERT_EQ(runs.size(), 3U);
  EXPECT_EQ(runs[0].start, 3U);
  EXPECT_EQ(runs[0].count, 1U);
  EXPECT_EQ(runs[1].fingerprint, 6U);
  EXPECT_EQ(runs[2].start, 6U);
  EXPECT_TRUE(MediaRuns({}, {0, 9}).empty());
}

class MediaOfHeadTest : public ::testing::Test {
 protected:
  // Of tokens [10, 20).
  static std::vector<std::byte> Head(const std::vector<MediaRun>& runs) {
    const StateLayout layout;
    const StateImage image(layout, {10, 20}, 4, runs.size());
    return image.Head(std::vector<Token>(10, 3), std::vector<bool>(10), runs);
  }
  static absl::StatusOr<StateHead> Parse(const std::vector<std::byte>& bytes) {
    return ParseStateHead(bytes, {10, 20}, 100);
  }
};

TEST_F(MediaOfHeadTest, GoesThereAndBack) {
  const auto head = Parse(Head({{11, 2, 5}, {13, 1, 6}, {19, 1, 6}}));
  ASSERT_TRUE(head.ok()) << head.status();
  EXPECT_EQ(head->media, (MediaMap{{11, 5}, {12, 5}, {13, 6}, {19, 6}}));
  EXPECT_EQ(head->media_runs, 3U);
  EXPECT_TRUE(Parse(Head({}))->media.empty());
}

TEST_F(MediaOfHeadTest, RunsThatCannotBeAreRefused) {
  const std::vector<std::vector<MediaRun>> wrong = {{{9, 2, 5}},
                                                    {{19, 2, 5}},
                                                    {{11, 0, 5}},
                                                    {{11, 1, 0}},
                                                    {{12, 2, 5}, {11, 1, 6}},
                                                    {{12, 2, 5}, {13, 1, 6}},
                                                    {{12, 2, 5}, {14, 1, 5}},
                                                    {{UINT64_MAX, 1, 5}},
                                                    {{11, UINT64_MAX, 5}}};
  for (size_t i = 0; i < wrong.size(); ++i) EXPECT_FALSE(Parse(Head(wrong[i])).ok()) << i;
  std::vector<std::byte> bytes = Head({{11, 2, 5}});
  bytes.resize(bytes.size() - 1);
  EXPECT_FALSE(Parse(bytes).ok());
}

}  // namespace
}  // namespace superfluid
