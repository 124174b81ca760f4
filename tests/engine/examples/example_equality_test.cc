// What must be the same whatever way it is computed, of the example engine: a thousand random cases
// of each.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/engine/examples/example_fixture.h"

namespace superfluid {
namespace {

constexpr int kCases = 1000;
constexpr uint32_t kDrawn = 12;

class ExampleEqualityTest : public testing::ExampleFixture {
 protected:
  // A case: a text, sampling parameters, and what a plain decode draws.
  void NextCase() {
    text_ = RandomText(1, 40);
    RandomSampling();
    const SequenceHandle sequence = Prefilled(text_);
    plain_ = Decode(sequence, kDrawn);
    ASSERT_EQ(plain_.size(), kDrawn);
    ASSERT_TRUE(generation().FreeSequence(sequence).ok());
  }
  void Free(SequenceHandle sequence) { EXPECT_TRUE(generation().FreeSequence(sequence).ok()); }
  // The text and the first `count` drawn tokens.
  std::vector<Token> TextAnd(size_t count) const {
    std::vector<Token> tokens = text_;
    tokens.insert(tokens.end(), plain_.begin(), plain_.begin() + static_cast<long>(count));
    return tokens;
  }
  std::vector<Token> Rest(size_t count) const {
    return {plain_.begin() + static_cast<long>(count), plain_.end()};
  }

  std::vector<Token> text_;
  std::vector<Token> plain_;
};

TEST_F(ExampleEqualityTest, ATickSplitIntoSmallerOnes) {
  for (int i = 0; i < kCases; ++i) {
    NextCase();
    const SequenceHandle sequence = Prefilled(text_);
    std::vector<Token> drawn;
    while (drawn.size() < kDrawn) {
      const auto left = static_cast<uint32_t>(kDrawn - drawn.size());
      const std::vector<Token> more = Decode(sequence, 1 + static_cast<uint32_t>(Random(left)));
      drawn.insert(drawn.end(), more.begin(), more.end());
    }
    ASSERT_EQ(drawn, plain_) << i;
    Free(sequence);
  }
}

TEST_F(ExampleEqualityTest, APrefillInChunks) {
  for (int i = 0; i < kCases; ++i) {
    NextCase();
    const SequenceHandle sequence = *generation().CreateSequence();
    for (size_t done = 0; done < text_.size();) {
      LaneWork lane;
      lane.sequence = sequence;
      lane.kind = LaneKind::kPrefill;
      lane.input = absl::MakeConstSpan(text_).subspan(done, 1 + Random(text_.size() - done));
      done += lane.input.size();
      ASSERT_EQ(Run(lane).position, done);
    }
    ASSERT_EQ(Decode(sequence, kDrawn), plain_) << i;
    Free(sequence);
  }
}

TEST_F(ExampleEqualityTest, AFork) {
  for (int i = 0; i < kCases; ++i) {
    NextCase();
    const size_t at = Random(kDrawn);
    const SequenceHandle parent = Prefilled(TextAnd(at));
    const SequenceHandle child = *generation().Fork(parent, 0);
    if (Random(2) == 0) Prefilled(text_);
    ASSERT_EQ(Decode(child, static_cast<uint32_t>(kDrawn - at)), Rest(at)) << i;
    ASSERT_EQ(Decode(parent, static_cast<uint32_t>(kDrawn - at)), Rest(at)) << i;
    generation().EndSession();
  }
}

TEST_F(ExampleEqualityTest, AStateExportedAndImported) {
  for (int i = 0; i < kCases; ++i) {
    NextCase();
    const size_t at = Random(kDrawn);
    const uint64_t length = text_.size() + at;
    const SequenceHandle from = Prefilled(TextAnd(at));
    const Exported state = Export(from, {0, length});
    Free(from);
    // Into a new sequence, or one that had something else in it.
    const SequenceHandle into =
        Random(2) == 0 ? *generation().CreateSequence() : Prefilled(RandomText(1, 60));
    ASSERT_TRUE(Import(into, {0, length}, state, /*replace=*/true).ok()) << i;
    ASSERT_EQ(Decode(into, static_cast<uint32_t>(kDrawn - at)), Rest(at)) << i;
    Free(into);
  }
}

TEST_F(ExampleEqualityTest, ARangeDemotedAndPromoted) {
  for (int i = 0; i < kCases; ++i) {
    NextCase();
    const SequenceHandle sequence = Prefilled(text_);
    const uint64_t start = Random(text_.size());
    const TokenRange range = {start, start + 1 + Random(text_.size() - start)};
    const Exported state = Export(sequence, range, /*free_device_copy=*/true);
    LaneWork lane;
    lane.sequence = sequence;
    lane.max_tokens = 1;
    ASSERT_EQ(Run(lane).status.code(), absl::StatusCode::kFailedPrecondition);
    ASSERT_TRUE(Import(sequence, range, state, /*replace=*/false).ok()) << i;
    ASSERT_EQ(Decode(sequence, kDrawn), plain_) << i;
    Free(sequence);
  }
}

TEST_F(ExampleEqualityTest, WhatWasTrimmedIsDrawnAgain) {
  for (int i = 0; i < kCases; ++i) {
    NextCase();
    const SequenceHandle sequence = Prefilled(TextAnd(kDrawn));
    const size_t at = Random(kDrawn);
    ASSERT_TRUE(generation().Trim(sequence, SpaceId{}, text_.size() + at).ok());
    ASSERT_EQ(Decode(sequence, static_cast<uint32_t>(kDrawn - at)), Rest(at)) << i;
    Free(sequence);
  }
}

TEST_F(ExampleEqualityTest, DraftsRightOrWrong) {
  for (int i = 0; i < kCases; ++i) {
    NextCase();
    const SequenceHandle sequence = Prefilled(text_);
    std::vector<Token> drawn;
    while (drawn.size() < kDrawn) {
      std::vector<Token> drafts = Rest(drawn.size());
      drafts.resize(Random(drafts.size() + 1));
      const size_t right = Random(drafts.size() + 1);
      if (right < drafts.size()) drafts[right] = (drafts[right] + 1) % 256;
      LaneWork lane;
      lane.sequence = sequence;
      lane.kind = LaneKind::kVerify;
      lane.sampling = sampling_;
      lane.drafts = drafts;
      lane.max_tokens = static_cast<uint32_t>(kDrawn - drawn.size());
      const LaneResult result = Run(lane);
      ASSERT_TRUE(result.status.ok()) << result.status;
      ASSERT_EQ(result.accepted_drafts, std::min(right, drafts.size())) << i;
      drawn.insert(drawn.end(), result.tokens.begin(), result.tokens.end());
    }
    ASSERT_EQ(drawn, plain_) << i;
    Free(sequence);
  }
}

TEST_F(ExampleEqualityTest, LanesSideBySide) {
  for (int i = 0; i < kCases / 10; ++i) {
    NextCase();
    std::vector<LaneWork> lanes(8);
    std::vector<std::vector<Token>> texts;
    for (size_t k = 0; k < lanes.size(); ++k) texts.push_back(k == 3 ? text_ : RandomText(1, 40));
    for (size_t k = 0; k < lanes.size(); ++k) {
      lanes[k].tag = LaneTag{k};
      lanes[k].input = texts[k];
      lanes[k].max_tokens = kDrawn;
      lanes[k].sampling = sampling_;
    }
    const auto results = generation().RunTick({1, false, lanes}, token_, host_);
    ASSERT_TRUE(results.ok());
    ASSERT_EQ((*results)[3].tokens, plain_) << i;
    generation().EndSession();
  }
}

}  // namespace
}  // namespace superfluid
