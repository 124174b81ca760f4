#include "engine/sampling/sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

namespace superfluid {
namespace {

using ::testing::ElementsAre;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Lets the tokens of a set pass; counts how many it was asked about one by one, or gathered.
class SetFilter : public TokenFilter {
 public:
  bool IsCheap() const override { return cheap; }
  void Gather(absl::Span<const float> logits, std::vector<TokenLogit>& out) override {
    for (const Token token : allowed) {
      if (logits[token] > -kInfinity) out.push_back({token, logits[token]});
    }
    gathered += allowed.size();
  }
  bool Allows(Token token) override {
    ++asked;
    return allowed.contains(token);
  }
  std::set<Token> allowed;
  bool cheap = true;
  size_t asked = 0;
  size_t gathered = 0;
};

class SamplerTest : public ::testing::Test {
 protected:
  absl::StatusOr<Token> DrawOne() {
    Draw draw;
    draw.params = &params_;
    draw.bias = bias_.empty() ? nullptr : &bias_;
    draw.filter = masked_ ? &filter_ : nullptr;
    draw.history = history_;
    std::vector<float> logits = logits_;
    return DrawToken(absl::MakeSpan(logits), draw);
  }
  // What comes at many positions.
  std::set<Token> DrawMany() {
    std::set<Token> drawn;
    for (params_.seed = 0; params_.seed < 400; ++params_.seed) drawn.insert(*DrawOne());
    return drawn;
  }

  std::vector<float> logits_ = {1, 3, 2, 3, -1};
  SamplingParams params_;
  LogitBias bias_;
  SetFilter filter_;
  bool masked_ = false;
  std::vector<Token> history_ = {7};
};

TEST_F(SamplerTest, GreedyTakesTheLowestOfEquals) { EXPECT_EQ(*DrawOne(), 1U); }

TEST_F(SamplerTest, BiasIsAdded) {
  bias_ = {{4, 10.F}};
  EXPECT_EQ(*DrawOne(), 4U);
  bias_ = {{1, -kInfinity}, {3, -kInfinity}, {900, 5.F}};
  EXPECT_EQ(*DrawOne(), 2U);
}

TEST_F(SamplerTest, PenaltyIsOverTheHistoryOnceEach) {
  params_.repetition_penalty = 1.4F;
  history_ = {1, 1, 1, 999};
  EXPECT_EQ(*DrawOne(), 3U);
  history_ = {1, 3};  // 3 / 1.4 is still above 2
  EXPECT_EQ(*DrawOne(), 1U);
  params_.repetition_penalty = 1.6F;
  EXPECT_EQ(*DrawOne(), 2U);
  logits_ = {-1, -1.5F};
  history_ = {0};
  EXPECT_EQ(*DrawOne(), 1U);  // below 0 it makes less likely, too
}

TEST_F(SamplerTest, BiasComesBeforeThePenalty) {
  logits_ = {2, 1};
  bias_ = {{1, 3.F}};
  history_ = {1};
  params_.repetition_penalty = 1.9F;  // (1 + 3) / 1.9 > 2, but 1 / 1.9 + 3 would be, too
  EXPECT_EQ(*DrawOne(), 1U);
  params_.repetition_penalty = 2.1F;
  EXPECT_EQ(*DrawOne(), 0U);
}

TEST_F(SamplerTest, MaskLeavesWhatIsAllowed) {
  masked_ = true;
  filter_.allowed = {0, 4};
  EXPECT_EQ(*DrawOne(), 0U);
  params_.temperature = 5;
  EXPECT_THAT(DrawMany(), ElementsAre(0U, 4U));
  filter_.allowed.clear();
  EXPECT_TRUE(absl::IsInvalidArgument(DrawOne().status()));
}

// What every token's filter verdict known beforehand gives, as the definition says it.
TEST_F(SamplerTest, FilterAsNeededEqualsFilterFirst) {
  masked_ = true;
  logits_.resize(5000);
  for (size_t i = 0; i < logits_.size(); ++i) {
    logits_[i] = static_cast<float>(i * 7919 % 1009) / 100;
    if (i % 37 == 5) filter_.allowed.insert(static_cast<Token>(i));
  }
  std::vector<float> masked = logits_;
  for (size_t i = 0; i < masked.size(); ++i) {
    if (!filter_.allowed.contains(static_cast<Token>(i))) masked[i] = -kInfinity;
  }
  const std::vector<float> unmasked = logits_;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    params_ = {};
    params_.seed = seed;
    params_.temperature = static_cast<float>(seed % 4) / 2;
    params_.top_k = seed % 3 == 0 ? static_cast<uint32_t>(seed) : 0;
    params_.top_p = seed % 5 == 0 ? 0.3F : 0;
    params_.min_p = seed % 7 == 0 ? 0.2F : 0;
    logits_ = unmasked;
    filter_.cheap = seed % 2 == 0;
    const auto asked = DrawOne();
    masked_ = false;
    logits_ = masked;
    EXPECT_EQ(*asked, *DrawOne()) << seed;
    masked_ = true;
  }
}

TEST_F(SamplerTest, GreedyAsksTheFilterAboutFewTokens) {
  masked_ = true;
  logits_.assign(100'000, 0);
  for (size_t i = 0; i < logits_.size(); ++i) logits_[i] = -static_cast<float>(i);
  filter_.allowed = {3};
  filter_.cheap = false;
  EXPECT_EQ(*DrawOne(), 3U);
  EXPECT_LE(filter_.asked, 9U);
  EXPECT_EQ(filter_.gathered, 0U);
}

TEST_F(SamplerTest, ACheapFilterIsGatheredAndNotAsked) {
  masked_ = true;
  logits_.assign(100'000, 1);
  filter_.allowed = {3, 70'000};
  logits_[70'000] = 2;
  EXPECT_EQ(*DrawOne(), 70'000U);
  params_.temperature = 3;
  EXPECT_THAT(DrawMany(), ElementsAre(3U, 70'000U));
  EXPECT_EQ(filter_.asked, 0U);
}

TEST_F(SamplerTest, ManyCandidatesAreGatheredWhateverThatCosts) {
  masked_ = true;
  filter_.allowed = {0, 4};
  filter_.cheap = false;
  params_.temperature = 5;
  EXPECT_THAT(DrawMany(), ElementsAre(0U, 4U));
  EXPECT_EQ(filter_.asked, 0U);
}

TEST_F(SamplerTest, WhatIsNoNumberNeverComes) {
  logits_ = {NAN, 1, NAN, kInfinity, -kInfinity};
  EXPECT_EQ(*DrawOne(), 3U);
  logits_ = {NAN, 1, NAN, 0, -kInfinity};
  EXPECT_EQ(*DrawOne(), 1U);
  params_.temperature = 100;
  EXPECT_THAT(DrawMany(), ElementsAre(1U, 3U));
  logits_.assign(5, NAN);
  EXPECT_TRUE(absl::IsInvalidArgument(DrawOne().status()));
  EXPECT_TRUE(TopLogits(logits_, 3).empty());
}

// The definition, in the plainest words.
TEST_F(SamplerTest, EqualsTheDefinition) {
  logits_.resize(300);
  for (size_t i = 0; i < logits_.size(); ++i) {
    logits_[i] = static_cast<float>(i * 7919 % 211) / 30;
  }
  for (uint64_t seed = 0; seed < 500; ++seed) {
    params_ = {};
    params_.seed = seed;
    params_.temperature = 0.5F + static_cast<float>(seed % 4) / 2;
    params_.top_k = seed % 3 == 0 ? static_cast<uint32_t>(seed / 2 + 1) : 0;
    params_.top_p = seed % 5 == 0 ? 0.6F : 0;
    params_.min_p = seed % 7 == 0 ? 0.1F : 0;
    std::vector<TokenLogit> sorted = TopLogits(logits_, logits_.size());
    if (params_.top_k != 0) sorted.resize(std::min<size_t>(params_.top_k, sorted.size()));
    std::vector<double> weights;
    double sum = 0;
    for (const TokenLogit& at : sorted) {
      weights.push_back(std::exp((double{at.logit} - sorted[0].logit) / params_.temperature));
      sum += weights.back();
    }
    size_t keep = weights.size();
    double cumulated = 0;
    for (size_t i = 0; params_.top_p > 0 && i < keep; ++i) {
      cumulated += weights[i];
      if (cumulated >= sum * params_.top_p) keep = i + 1;
    }
    while (weights[keep - 1] < double{params_.min_p}) --keep;
    sum = 0;
    for (size_t i = 0; i < keep; ++i) sum += weights[i];
    double left = DrawUniform(seed, history_.size()) * sum;
    size_t drawn = 0;
    while (drawn + 1 < keep && left >= weights[drawn]) left -= weights[drawn++];
    EXPECT_EQ(*DrawOne(), sorted[drawn].token) << seed;
  }
}

TEST_F(SamplerTest, TopKKeepsTheMostLikely) {
  params_.temperature = 100;
  EXPECT_THAT(DrawMany(), ElementsAre(0U, 1U, 2U, 3U, 4U));
  params_.top_k = 2;
  EXPECT_THAT(DrawMany(), ElementsAre(1U, 3U));
  params_.top_k = 1;
  EXPECT_THAT(DrawMany(), ElementsAre(1U));
}

TEST_F(SamplerTest, TopPKeepsTheSmallestSetThatReachesIt) {
  params_.temperature = 1;
  logits_ = {std::log(0.5F), std::log(0.3F), std::log(0.15F), std::log(0.05F)};
  params_.top_p = 0.45F;
  EXPECT_THAT(DrawMany(), ElementsAre(0U));
  params_.top_p = 0.7F;
  EXPECT_THAT(DrawMany(), ElementsAre(0U, 1U));
  params_.top_p = 1;
  EXPECT_THAT(DrawMany(), ElementsAre(0U, 1U, 2U, 3U));
}

TEST_F(SamplerTest, MinPIsRelativeToTheMostLikely) {
  params_.temperature = 1;
  logits_ = {std::log(0.5F), std::log(0.3F), std::log(0.15F), std::log(0.05F)};
  params_.min_p = 0.25F;
  EXPECT_THAT(DrawMany(), ElementsAre(0U, 1U, 2U));
  params_.min_p = 1;
  EXPECT_THAT(DrawMany(), ElementsAre(0U));
}

TEST_F(SamplerTest, DrawsInProportion) {
  params_.temperature = 1;
  logits_ = {std::log(0.75F), std::log(0.25F)};
  int first = 0;
  for (uint64_t i = 0; i < 4000; ++i) {
    params_.seed = i;
    first += *DrawOne() == 0 ? 1 : 0;
  }
  EXPECT_NEAR(first / 4000.0, 0.75, 0.03);
}

TEST_F(SamplerTest, DrawDependsOnSeedAndPositionAlone) {
  params_.temperature = 3;
  params_.seed = 5;
  const Token token = *DrawOne();
  history_ = {9};  // as long
  EXPECT_EQ(*DrawOne(), token);
  std::set<Token> drawn;
  for (int i = 0; i < 100; ++i) {
    history_.push_back(9);
    drawn.insert(*DrawOne());
  }
  EXPECT_GT(drawn.size(), 2U);
}

TEST_F(SamplerTest, ExtremeNumbersDrawSomething) {
  params_.temperature = std::numeric_limits<float>::denorm_min();
  params_.repetition_penalty = std::numeric_limits<float>::denorm_min();
  history_ = {1, 2, 3, 4};
  bias_ = {{0, std::numeric_limits<float>::max()}, {2, std::numeric_limits<float>::lowest()}};
  EXPECT_TRUE(DrawOne().ok());
  params_.repetition_penalty = std::numeric_limits<float>::max();
  params_.temperature = std::numeric_limits<float>::max();
  EXPECT_TRUE(DrawOne().ok());
}

TEST_F(SamplerTest, ChecksItsParameters) {
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

TEST_F(SamplerTest, TopLogitsAreInOrder) {
  EXPECT_THAT(TopLogits(logits_, 3),
              ElementsAre(TokenLogit{1, 3}, TokenLogit{3, 3}, TokenLogit{2, 2}));
  EXPECT_EQ(TopLogits(logits_, 99).size(), 5U);
}

}  // namespace
}  // namespace superfluid
