#include "engine/sim/sim_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "engine/cache/token_provenance.h"
#include "engine/sampling/sampler.h"

namespace superfluid {
namespace {

using Bytes = std::array<std::byte, kSimRowBytes>;

SimPoint PointAfter(const std::vector<Token>& tokens, uint64_t media = 0, uint64_t adapter = 0) {
  SimPoint point = SimStartPoint();
  for (const Token token : tokens) AdvanceSimPoint(point, {token, media, adapter});
  return point;
}

float LogitOf(const SimPoint& point, uint64_t adapter = 0) {
  std::vector<float> logits(1);
  SimLogits(point, adapter, absl::MakeSpan(logits));
  return logits[0];
}

// These must stay what they are: stored states and other tests depend on them.
TEST(SimModelTest, KnownStateIsKnown) {
  const SimPoint point = PointAfter({1, 2, 3});
  EXPECT_EQ(point.position, 3U);
  EXPECT_EQ(point.rows, 8062991152751285320U);
  EXPECT_EQ(point.recurrent[7], 959244406699422005U);
  EXPECT_FLOAT_EQ(LogitOf(point), 3.04304409F);
  EXPECT_DOUBLE_EQ(DrawUniform(42, 3), 0.28801647255377061);
}

TEST(SimModelTest, LogitsDependOnEverything) {
  const float base = LogitOf(PointAfter({1, 2, 3}));
  EXPECT_NE(base, LogitOf(PointAfter({1, 2})));
  EXPECT_NE(base, LogitOf(PointAfter({2, 1, 3})));
  EXPECT_NE(base, LogitOf(PointAfter({1, 2, 3}, /*media=*/9)));
  EXPECT_NE(base, LogitOf(PointAfter({1, 2, 3}, 0, /*adapter=*/9)));
  EXPECT_NE(base, LogitOf(PointAfter({1, 2, 3}), /*adapter=*/9));
  for (size_t word = 0; word < kSimRecurrentBytes / 8; ++word) {
    SimPoint point = PointAfter({1, 2, 3});
    point.recurrent[word] ^= 1;
    EXPECT_NE(base, LogitOf(point)) << word;
  }
}

TEST(SimModelTest, LogitsAndUniformsAreInRange) {
  std::vector<float> logits(5000);
  SimLogits(PointAfter({5}), 0, absl::MakeSpan(logits));
  EXPECT_THAT(logits, ::testing::Each(::testing::AllOf(::testing::Ge(-8), ::testing::Lt(8))));
  double sum = 0;
  for (uint64_t i = 0; i < 1000; ++i) {
    const double uniform = DrawUniform(7, i);
    ASSERT_GE(uniform, 0);
    ASSERT_LT(uniform, 1);
    sum += uniform;
  }
  EXPECT_NEAR(sum / 1000, 0.5, 0.05);
  EXPECT_NE(DrawUniform(7, 1), DrawUniform(8, 1));
}

TEST(SimModelTest, RowsSurviveBytes) {
  SimRow row;
  row.token = 200;
  row.media = 77;
  row.key = 1;
  row.value = UINT64_MAX;
  for (const bool drawn : {false, true}) {
    Bytes bytes{};
    EncodeSimRow(row, drawn, 5, bytes);
    const auto decoded = DecodeSimRow(bytes, 5, 256);
    ASSERT_TRUE(decoded.has_value());
    EXPECT_EQ(decoded->row, row);
    EXPECT_EQ(decoded->drawn, drawn);
    EXPECT_FALSE(DecodeSimRow(bytes, 6, 256).has_value());
    EXPECT_FALSE(DecodeSimRow(bytes, 5, 200).has_value());
  }
}

TEST(SimModelTest, RefusesRowsWhoseTokenOrMarksAreChanged) {
  Bytes bytes{};
  EncodeSimRow({100, 3, 4, 5}, true, 9, bytes);
  for (size_t i = 0; i < 16; ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      Bytes wrong = bytes;
      wrong[i] ^= static_cast<std::byte>(1U << bit);
      EXPECT_FALSE(DecodeSimRow(wrong, 9, 256).has_value()) << i << "." << bit;
    }
  }
}

TEST(SimModelTest, ProvenanceIsOfTokensMediaAndAdapter) {
  const auto digest = [](const std::vector<Token>& tokens, uint64_t media, uint64_t adapter) {
    TokenProvenance provenance(adapter);
    for (const Token token : tokens) provenance.Add(token, media);
    return provenance.digest();
  };
  const Digest base = digest({1, 2}, 0, 0);
  EXPECT_EQ(base, digest({1, 2}, 0, 0));
  EXPECT_NE(base, digest({2, 1}, 0, 0));
  EXPECT_NE(base, digest({1}, 0, 0));
  EXPECT_NE(base, digest({1, 2}, 1, 0));
  EXPECT_NE(base, digest({1, 2}, 0, 1));
  EXPECT_EQ(AdapterOfProvenance(digest({1, 2}, 0, 99)), 99U);
}

}  // namespace
}  // namespace superfluid
