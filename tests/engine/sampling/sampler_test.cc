#include "engine/sim/sim_sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <vector>

namespace superfluid {
namespace {

using ::testing::ElementsAre;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

class SimSamplerTest : public ::testing::Test {
 protected:
  absl::StatusOr<Token> Draw() {
    SimDraw draw;
    draw.params = &params_;
    draw.bias = bias_.empty() ? nullptr : &bias_;
    draw.allowed = masked_ ? &allowed_ : nullptr;
    draw.history = history_;
    std::vector<float> logits = logits_;
    return DrawSimToken(absl::MakeSpan(logits), draw);
  }
  // What comes at many positions.
  std::set<Token> DrawMany() {
    std::set<Token> drawn;
    for (params_.seed = 0; params_.seed < 400; ++params_.seed) drawn.insert(*Draw());
    return drawn;
  }

  std::vector<float> logits_ = {1, 3, 2, 3, -1};
  SamplingParams params_;
  SimBias bias_;
  SimByteSet allowed_;
  bool masked_ = false;
  std::vector<Token> history_ = {7};
};

TEST_F(SimSamplerTest, GreedyTakesTheLowestOfEquals) { EXPECT_EQ(*Draw(), 1U); }

TEST_F(SimSamplerTest, BiasIsAdded) {
  bias_ = {{4, 10.F}};
  EXPECT_EQ(*Draw(), 4U);
  bias_ = {{1, -kInfinity}, {3, -kInfinity}, {900, 5.F}};
  EXPECT_EQ(*Draw(), 2U);
}

TEST_F(SimSamplerTest, PenaltyIsOverTheHistoryOnceEach) {
  params_.repetition_penalty = 1.4F;
  history_ = {1, 1, 1, 999};
  EXPECT_EQ(*Draw(), 3U);
  history_ = {1, 3};  // 3 / 1.4 is still above 2
  EXPECT_EQ(*Draw(), 1U);
  params_.repetition_penalty = 1.6F;
  EXPECT_EQ(*Draw(), 2U);
  logits_ = {-1, -1.5F};
  history_ = {0};
  EXPECT_EQ(*Draw(), 1U);  // below 0 it makes less likely, too
}

TEST_F(SimSamplerTest, BiasComesBeforeThePenalty) {
  logits_ = {2, 1};
  bias_ = {{1, 3.F}};
  history_ = {1};
  params_.repetition_penalty = 1.9F;  // (1 + 3) / 1.9 > 2, but 1 / 1.9 + 3 would be, too
  EXPECT_EQ(*Draw(), 1U);
  params_.repetition_penalty = 2.1F;
  EXPECT_EQ(*Draw(), 0U);
}

TEST_F(SimSamplerTest, MaskLeavesWhatIsAllowed) {
  masked_ = true;
  allowed_.set(0).set(4);
  EXPECT_EQ(*Draw(), 0U);
  params_.temperature = 5;
  EXPECT_THAT(DrawMany(), ElementsAre(0U, 4U));
  allowed_.reset();
  EXPECT_TRUE(absl::IsInvalidArgument(Draw().status()));
}

TEST_F(SimSamplerTest, TokensBeyondBytesAreMaskedToo) {
  logits_.assign(300, 0);
  logits_[299] = 9;
  EXPECT_EQ(*Draw(), 299U);
  masked_ = true;
  allowed_.set();
  EXPECT_EQ(*Draw(), 0U);
}

TEST_F(SimSamplerTest, TopKKeepsTheMostLikely) {
  params_.temperature = 100;
  EXPECT_THAT(DrawMany(), ElementsAre(0U, 1U, 2U, 3U, 4U));
  params_.top_k = 2;
  EXPECT_THAT(DrawMany(), ElementsAre(1U, 3U));
  params_.top_k = 1;
  EXPECT_THAT(DrawMany(), ElementsAre(1U));
}

TEST_F(SimSamplerTest, TopPKeepsTheSmallestSetThatReachesIt) {
  params_.temperature = 1;
  logits_ = {std::log(0.5F), std::log(0.3F), std::log(0.15F), std::log(0.05F)};
  params_.top_p = 0.45F;
  EXPECT_THAT(DrawMany(), ElementsAre(0U));
  params_.top_p = 0.7F;
  EXPECT_THAT(DrawMany(), ElementsAre(0U, 1U));
  params_.top_p = 1;
  EXPECT_THAT(DrawMany(), ElementsAre(0U, 1U, 2U, 3U));
}

TEST_F(SimSamplerTest, MinPIsRelativeToTheMostLikely) {
  params_.temperature = 1;
  logits_ = {std::log(0.5F), std::log(0.3F), std::log(0.15F), std::log(0.05F)};
  params_.min_p = 0.25F;
  EXPECT_THAT(DrawMany(), ElementsAre(0U, 1U, 2U));
  params_.min_p = 1;
  EXPECT_THAT(DrawMany(), ElementsAre(0U));
}

TEST_F(SimSamplerTest, DrawsInProportion) {
  params_.temperature = 1;
  logits_ = {std::log(0.75F), std::log(0.25F)};
  int first = 0;
  for (uint64_t i = 0; i < 4000; ++i) {
    params_.seed = i;
    first += *Draw() == 0 ? 1 : 0;
  }
  EXPECT_NEAR(first / 4000.0, 0.75, 0.03);
}

TEST_F(SimSamplerTest, DrawDependsOnSeedAndPositionAlone) {
  params_.temperature = 3;
  params_.seed = 5;
  const Token token = *Draw();
  history_ = {9};  // as long
  EXPECT_EQ(*Draw(), token);
  std::set<Token> drawn;
  for (int i = 0; i < 100; ++i) {
    history_.push_back(9);
    drawn.insert(*Draw());
  }
  EXPECT_GT(drawn.size(), 2U);
}

TEST_F(SimSamplerTest, ExtremeNumbersDrawSomething) {
  params_.temperature = std::numeric_limits<float>::denorm_min();
  params_.repetition_penalty = std::numeric_limits<float>::denorm_min();
  history_ = {1, 2, 3, 4};
  bias_ = {{0, std::numeric_limits<float>::max()}, {2, std::numeric_limits<float>::lowest()}};
  EXPECT_TRUE(Draw().ok());
  params_.repetition_penalty = std::numeric_limits<float>::max();
  params_.temperature = std::numeric_limits<float>::max();
  EXPECT_TRUE(Draw().ok());
}

TEST_F(SimSamplerTest, ChecksItsParameters) {
  const auto bad = [](auto change) {
    SamplingParams params;
    change(params);
    return absl::IsInvalidArgument(CheckSampling(params));
  };
  EXPECT_TRUE(CheckSampling({}).ok());
  EXPECT_TRUE(bad([](auto& p) { p.temperature = -1; }));
  EXPECT_TRUE(bad([](auto& p) { p.temperature = NAN; }));
  EXPECT_TRUE(bad([](auto& p) { p.temperature = kInfinity; }));
  EXPECT_TRUE(bad([](auto& p) { p.top_p = 1.01F; }));
  EXPECT_TRUE(bad([](auto& p) { p.top_p = NAN; }));
  EXPECT_TRUE(bad([](auto& p) { p.min_p = -0.1F; }));
  EXPECT_TRUE(bad([](auto& p) { p.repetition_penalty = -1; }));
}

TEST_F(SimSamplerTest, TopLogitsAreInOrder) {
  EXPECT_THAT(TopLogits(logits_, 3),
              ElementsAre(TokenLogit{1, 3}, TokenLogit{3, 3}, TokenLogit{2, 2}));
  EXPECT_EQ(TopLogits(logits_, 99).size(), 5U);
}

}  // namespace
}  // namespace superfluid
