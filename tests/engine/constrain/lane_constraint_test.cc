#include "engine/constrain/lane_constraint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/constrain/grammar_book.h"
#include "engine/sampling/handle_source.h"
#include "engine/sampling/sampler.h"
#include "tests/engine/constrain/synthetic_tokens.h"

namespace superfluid {
namespace {

using ::testing::UnorderedElementsAre;

constexpr size_t kSize = 2000;
constexpr Token kEnd = kSize - 3;
constexpr Token kOtherEnd = kSize - 2;
constexpr Token kNamed = kSize - 1;

class LaneConstraintTest : public ::testing::Test {
 protected:
  LaneConstraint Lane(const std::string& schema) {
    const auto handle = book_.AddSchema(schema, {});
    EXPECT_TRUE(handle.ok()) << handle.status();
    grammar_ = *book_.Find(*handle);
    return LaneConstraint(grammar_);
  }
  LaneConstraint Tags(const std::string& tags) {
    const auto handle = book_.AddTags(tags, {});
    EXPECT_TRUE(handle.ok()) << handle.status();
    return LaneConstraint(*book_.Find(*handle));
  }
  bool Read(LaneConstraint& lane, const std::string& text) {
    for (const Token token : testing::CutIntoTokens(tokens_, text)) {
      if (!lane.Accept(token)) return false;
    }
    return true;
  }
  static std::vector<Token> Gather(LaneConstraint& lane) {
    std::vector<float> logits(kSize, 0.0F);
    std::vector<TokenLogit> out;
    lane.Gather(logits, out);
    std::vector<Token> tokens;
    for (const TokenLogit& one : out) tokens.push_back(one.token);
    return tokens;
  }

  HandleSource handles_;
  int asked_ = 0;
  GrammarBook book_{handles_, [this] {
                      ++asked_;
                      return testing::SyntheticTokens(kSize);
                    }};
  std::shared_ptr<TokenGrammar> grammar_;  // of the last Lane
  Vocabulary tokens_{testing::SyntheticTokens(kSize)};
};

TEST_F(LaneConstraintTest, ATextEndsWithItsTokensAndNothingFollows) {
  LaneConstraint lane = Lane(R"({"const":7})");
  EXPECT_FALSE(lane.Accept(kEnd));
  EXPECT_FALSE(lane.CanEnd());
  ASSERT_TRUE(Read(lane, "7"));
  EXPECT_THAT(Gather(lane), UnorderedElementsAre(kEnd, kOtherEnd));
  ASSERT_TRUE(lane.Accept(kOtherEnd));
  EXPECT_FALSE(Read(lane, "7"));
  EXPECT_THAT(Gather(lane), UnorderedElementsAre(kEnd, kOtherEnd));
  EXPECT_TRUE(lane.Accept(kEnd));
  EXPECT_FALSE(lane.Accept(kSize + 5));
}

TEST_F(LaneConstraintTest, ARefusedTokenChangesNothing) {
  LaneConstraint lane = Lane(R"({"enum":["abc","abd"]})");
  ASSERT_TRUE(Read(lane, "\"ab"));
  const std::vector<Token> before = Gather(lane);
  EXPECT_FALSE(Read(lane, "x"));
  EXPECT_EQ(Gather(lane), before);
}

TEST_F(LaneConstraintTest, ACopyGoesItsOwnWay) {
  LaneConstraint lane = Lane(R"({"type":"array","items":{"type":"integer"}})");
  ASSERT_TRUE(Read(lane, "[1"));
  LaneConstraint ahead = lane;
  const std::vector<Token> here = Gather(lane);
  ASSERT_TRUE(Read(ahead, ",2,3]"));
  EXPECT_TRUE(ahead.CanEnd());
  EXPECT_FALSE(lane.CanEnd());
  EXPECT_EQ(Gather(lane), here);
  ASSERT_TRUE(Read(lane, "]"));
  EXPECT_EQ(Gather(lane), Gather(ahead));
}

TEST_F(LaneConstraintTest, ANameComesOnlyWhereItIsSpelled) {
  LaneConstraint text = Lane(R"({"type":"string"})");
  ASSERT_TRUE(Read(text, "\""));
  EXPECT_FALSE(text.Allows(kNamed));
  LaneConstraint tags = Tags(R"({"structures":[{"begin":"<call>","schema":{"type":"null"},
      "end":"</call>"}],"triggers":["<call>"]})");
  EXPECT_TRUE(tags.Allows(kNamed));
  EXPECT_THAT(Gather(tags), ::testing::Contains(kNamed));
  ASSERT_TRUE(tags.Accept(kNamed));
  EXPECT_FALSE(Read(tags, "x"));
  EXPECT_TRUE(Read(tags, "null</call>"));
}

TEST_F(LaneConstraintTest, DrawsAreTheSameWhetherMasksAreMadeOrTokensTested) {
  constexpr char kSchema[] = R"({"type":"object","properties":{"a":{"type":"string",
      "pattern":"^[a-z ]{1,9}$"},"b":{"type":"number"}},"required":["a","b"]})";
  for (const uint32_t top_k : {0U, 1U, 5U}) {
    std::vector<std::vector<Token>> drawn;
    for (const bool spent : {false, true}) {
      book_.Clear();
      book_.BeginTick();
      LaneConstraint lane = Lane(kSchema);
      SamplingParams params;
      params.temperature = top_k == 0 ? 0 : 1.3F;
      params.top_k = top_k;
      params.seed = 5;
      std::vector<Token> tokens = {1};
      while (tokens.size() < 40) {
        if (spent) grammar_->budget().Spend(MaskBudget::kStepsOfTick);
        std::vector<float> logits(kSize);
        for (size_t i = 0; i < kSize; ++i) {
          logits[i] = static_cast<float>((i * 7919 + tokens.size() * 104'729) % 1000) / 100;
        }
        Draw draw;
        draw.params = &params;
        draw.filter = &lane;
        draw.history = tokens;
        const auto token = DrawToken(absl::MakeSpan(logits), draw);
        ASSERT_TRUE(token.ok()) << token.status();
        ASSERT_TRUE(lane.Accept(*token));
        tokens.push_back(*token);
      }
      drawn.push_back(tokens);
    }
    EXPECT_EQ(drawn[0], drawn[1]) << top_k;
  }
}

TEST_F(LaneConstraintTest, BiasedAwayTokensAreNotGathered) {
  LaneConstraint lane = Lane(R"({"type":"boolean"})");
  std::vector<float> logits(kSize, -std::numeric_limits<float>::infinity());
  logits['t'] = 1;
  logits['x'] = 2;
  std::vector<TokenLogit> out;
  lane.Gather(logits, out);
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out[0].token, Token{'t'});
}

// ---- GrammarBook ----

TEST_F(LaneConstraintTest, EqualTextsShareAGrammarUntilItIsFreed) {
  const auto first = book_.AddSchema(R"({"type":"null"})", {});
  const auto second = book_.AddSchema(R"({"type":"null"})", {});
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_NE(*first, *second);
  EXPECT_EQ(*book_.Find(*first), *book_.Find(*second));
  EXPECT_EQ(asked_, 1);
  EXPECT_TRUE(book_.Free(*first).ok());
  EXPECT_TRUE(absl::IsNotFound(book_.Free(*first)));
  EXPECT_TRUE(absl::IsNotFound(book_.Find(*first).status()));
  EXPECT_TRUE(book_.Find(*second).ok());
  EXPECT_EQ(*book_.Find(GrammarHandle{}), nullptr);
  book_.Clear();
  EXPECT_TRUE(absl::IsNotFound(book_.Find(*second).status()));
}

TEST_F(LaneConstraintTest, ALaneOutlivesItsHandle) {
  LaneConstraint lane = Lane(R"({"type":"boolean"})");
  book_.Clear();
  EXPECT_TRUE(Read(lane, "true"));
}

TEST_F(LaneConstraintTest, GrammarsAreBounded) {
  for (size_t i = 0; i < GrammarBook::kMaxGrammars; ++i) {
    ASSERT_TRUE(book_.AddSchema(R"({"type":"null"})", {}).ok());
  }
  EXPECT_TRUE(absl::IsResourceExhausted(book_.AddSchema(R"({"type":"null"})", {}).status()));
}

TEST_F(LaneConstraintTest, ARefusedSchemaLeavesNothing) {
  EXPECT_TRUE(absl::IsInvalidArgument(book_.AddSchema("{", {}).status()));
  EXPECT_TRUE(absl::IsUnimplemented(book_.AddSchema(R"({"not":{}})", {}).status()));
  EXPECT_EQ(book_.bytes(), 0U);
  EXPECT_EQ(asked_, 0);
}

}  // namespace
}  // namespace superfluid
