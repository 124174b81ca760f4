#include "engine/constrain/token_masks.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/constrain/json_grammar.h"
#include "engine/constrain/lane_constraint.h"
#include "tests/engine/constrain/random_schema.h"
#include "tests/engine/constrain/synthetic_tokens.h"

namespace superfluid {
namespace {

using Method = LaneConstraint::Method;

std::vector<Token> TokensOf(const TokenBits& bits) {
  std::vector<Token> tokens;
  for (Token token = 0; token < bits.size() * 64; ++token) {
    if (((bits[token / 64] >> (token % 64)) & 1U) != 0) tokens.push_back(token);
  }
  return tokens;
}

class TokenMasksTest : public ::testing::Test {
 protected:
  std::shared_ptr<TokenGrammar> Make(std::shared_ptr<const Grammar> grammar,
                                     absl::string_view spelled = "") {
    return std::make_shared<TokenGrammar>(std::move(grammar), vocabulary_, budget_, spelled);
  }

  // Draws texts at random; at every step the masks are those of a walk, each token of which is
  // taken, and no other (a sample of them).
  void CheckTexts(const std::shared_ptr<TokenGrammar>& grammar, std::mt19937_64& random,
                  const std::string& where) {
    for (int text = 0; text < 3; ++text) {
      LaneConstraint lane(grammar);
      for (int step = 0; step < 40; ++step) {
        const TokenBits allowed = lane.Allowed(Method::kMasks);
        ASSERT_EQ(allowed, lane.Allowed(Method::kWalk)) << where;
        const std::vector<Token> tokens = TokensOf(allowed);
        ASSERT_FALSE(tokens.empty()) << "a dead end: " << where;
        for (int i = 0; i < 5; ++i) {
          const auto other = static_cast<Token>(random() % vocabulary_.size());
          const bool in = ((allowed[other / 64] >> (other % 64)) & 1U) != 0;
          ASSERT_EQ(lane.Allows(other), in) << where << " token " << other;
        }
        const Token next = tokens[random() % tokens.size()];
        ASSERT_TRUE(lane.Accept(next)) << where << " token " << next;
        ++steps_;
        if (vocabulary_.Ends(next)) break;
      }
    }
  }

  Vocabulary vocabulary_{testing::SyntheticTokens(3000)};
  MaskBudget budget_;
  int steps_ = 0;
};

TEST_F(TokenMasksTest, MasksAreThoseOfAWalkOverEveryToken) {
  const uint64_t seed = testing::SeedOfTest(1);
  std::mt19937_64 random(seed);
  int built = 0;
  for (int i = 0; i < 250; ++i) {
    const std::string schema = testing::RandomSchema(random);
    auto grammar = CompileJsonSchema(schema, {});
    if (!grammar.ok()) {
      EXPECT_FALSE(absl::IsInternal(grammar.status())) << schema;
      continue;
    }
    ++built;
    CheckTexts(Make(*std::move(grammar)), random, absl::StrCat("seed ", seed, ": ", schema));
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(built, 150);
  EXPECT_GT(steps_, 5000);
}

TEST_F(TokenMasksTest, MasksOfTagsAndExpressionsAreThoseOfAWalk) {
  std::mt19937_64 random(2);
  const auto tags = CompileTags(
      R"({"structures":[{"begin":"<call>","schema":{"type":"object"},"end":"</call>"},
      {"begin":"x!","schema":{"type":"integer"},"end":"."}],"triggers":["<c","x"]})",
      {});
  ASSERT_TRUE(tags.ok()) << tags.status();
  CheckTexts(Make(*tags, "<call>"), random, "tags");
  const auto words = CompileExpression("( ?(in|er|con|日)+[0-9]{0,3}\\n?)*", {});
  ASSERT_TRUE(words.ok()) << words.status();
  CheckTexts(Make(*words), random, "expression");
}

TEST_F(TokenMasksTest, MasksNearTheDeepestNestingAreThoseOfAWalk) {
  const auto grammar = CompileJsonSchema(
      R"({"type":"array","items":{"anyOf":[{"$ref":"#"},{"type":"array","minItems":1,"items":
      {"type":"array","minItems":1,"items":{"type":"null"}}}]}})",
      {});
  ASSERT_TRUE(grammar.ok()) << grammar.status();
  LaneConstraint lane(Make(*grammar));
  const Token open = testing::CutIntoTokens(vocabulary_, "[").front();
  uint32_t depth = 0;
  while (lane.Accept(open)) {
    ++depth;
    ASSERT_EQ(lane.Allowed(Method::kMasks), lane.Allowed(Method::kWalk)) << depth;
  }
  EXPECT_GE(depth, kMaxValueDepth - 2);
}

TEST_F(TokenMasksTest, AMaskIsMadeOnceForTheFramesThatItDependsOn) {
  const auto grammar = CompileJsonSchema(
      R"({"type":"array","items":{"type":"string","maxLength":4000},"maxItems":2000})", {});
  ASSERT_TRUE(grammar.ok());
  const auto shared = Make(*grammar);
  LaneConstraint lane(shared);
  const auto read = [&](const std::string& text) {
    for (const Token token : testing::CutIntoTokens(vocabulary_, text)) {
      (void)lane.Allowed(Method::kMasks);
      ASSERT_TRUE(lane.Accept(token)) << text;
    }
  };
  read("[\"some words\",");
  read("\"other words\",");
  const size_t made = shared->masks().count();
  for (int i = 0; i < 100; ++i) read("\"some more\",");
  EXPECT_LE(shared->masks().count(), made + 8);
}

TEST_F(TokenMasksTest, MasksAreBounded) {
  const auto grammar = CompileJsonSchema(R"({"type":"string","maxLength":100000})", {});
  ASSERT_TRUE(grammar.ok());
  const auto shared = Make(*grammar);
  LaneConstraint lane(shared);
  (void)lane.Allowed(Method::kMasks);
  EXPECT_GT(shared->masks().bytes(), 0U);
  shared->masks().Clear();
  EXPECT_EQ(shared->masks().bytes(), 0U);
  EXPECT_EQ(lane.Allowed(Method::kMasks), lane.Allowed(Method::kWalk));
}

}  // namespace
}  // namespace superfluid
