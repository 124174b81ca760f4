// What one lane of a tick may ask for, and what it gets.

#include <string>
#include <vector>

#include "engine/sim/sim_drawing.h"
#include "tests/engine/sim/sim_generation_fixture.h"

namespace superfluid {
namespace {

using ::testing::ElementsAre;
using testing::HasCode;
using ::testing::IsEmpty;
using testing::kExhausted;
using testing::kInvalid;
using testing::kNotFound;
using testing::kPrecondition;
using ::testing::SizeIs;

class SimLaneTest : public testing::SimGenerationTest {
 protected:
  const std::vector<Token> input_ = Tokens(20);
};

TEST_F(SimLaneTest, LaneErrorsConcernOneLane) {
  LaneWork bad = Lane(1, input_, 1);
  bad.sequence = SequenceHandle{999};
  const auto results = RunTick({bad, Lane(2, input_, 3)});
  ASSERT_TRUE(results.ok());
  EXPECT_THAT((*results)[0].status, HasCode(kNotFound));
  EXPECT_EQ((*results)[0].finish, FinishReason::kError);
  EXPECT_TRUE((*results)[1].status.ok());
  EXPECT_THAT((*results)[1].tokens, SizeIs(3));
}

TEST_F(SimLaneTest, RefusesLanesThatAreWrong) {
  EXPECT_THAT(ErrorOf(Lane(1, {}, 1)), HasCode(kInvalid));  // a draw from nothing
  EXPECT_THAT(ErrorOf(Lane(1, {256}, 0)), HasCode(kInvalid));
  EXPECT_THAT(ErrorOf(Lane(1, input_, 1025)), HasCode(kInvalid));
  const auto with = [&](auto change) {
    LaneWork work = Lane(1, input_, 1);
    change(work);
    return ErrorOf(work);
  };
  const std::vector<Token> beyond = {256};
  EXPECT_THAT(with([](LaneWork& w) { w.kind = LaneKind::kPrefill; }), HasCode(kInvalid));
  EXPECT_THAT(with([](LaneWork& w) { w.kind = LaneKind{9}; }), HasCode(kInvalid));
  EXPECT_THAT(with([](LaneWork& w) { w.sampling.top_p = 2; }), HasCode(kInvalid));
  EXPECT_THAT(with([&](LaneWork& w) { w.stop_tokens = beyond; }), HasCode(kInvalid));
  EXPECT_THAT(with([&](LaneWork& w) { w.drafts = beyond; }), HasCode(kInvalid));
  EXPECT_THAT(with([](LaneWork& w) { w.grammar = GrammarHandle{99}; }), HasCode(kNotFound));
  EXPECT_THAT(with([](LaneWork& w) { w.logit_bias = LogitBiasHandle{99}; }), HasCode(kNotFound));
  EXPECT_THAT(with([](LaneWork& w) { w.strategy = StrategySlot{99}; }), HasCode(kNotFound));
  EXPECT_EQ(generation_->Memory().pool_blocks_used, 0U);  // no sequence was left
}

TEST_F(SimLaneTest, AnotherAdaptersSequencesDoNotGoOn) {
  const SequenceHandle sequence = Prefill(input_);
  ASSERT_TRUE(generation_->LoadAdapter(WriteFile("lora", "one"), {}).ok());
  EXPECT_THAT(Decode(sequence, 1), HasCode(kPrecondition));
  const auto plain = Decode(Prefill(input_), 4);
  ASSERT_TRUE(generation_->UnloadAdapter().ok());
  EXPECT_TRUE(Decode(sequence, 1).ok());
  EXPECT_NE(*Decode(Prefill(input_), 4), *plain);
}

TEST_F(SimLaneTest, GrammarsConstrainTheText) {
  const auto grammar = generation_->CreateGrammar(
      R"({"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"],
      "additionalProperties":false})",
      {});
  ASSERT_TRUE(grammar.ok());
  LaneWork work = Lane(1, input_, 100);
  work.grammar = *grammar;
  const LaneResult result = RunOne(work);
  EXPECT_EQ(result.finish, FinishReason::kStopToken);
  std::string text;
  for (const Token token : result.tokens) {
    if (token != ' ' && token != '\n' && token != '\t') text += static_cast<char>(token);
  }
  EXPECT_TRUE(text == std::string("{\"ok\":true}\0", 12) ||
              text == std::string("{\"ok\":false}\0", 13))
      << text;
  // Drawing on gives nothing but the end.
  work = Lane(1, {}, 3);
  work.grammar = *grammar;
  work.sequence = result.sequence;
  EXPECT_THAT(RunOne(work).tokens, ElementsAre(kSimEndOfText));
}

TEST_F(SimLaneTest, WhatComesFromTheCacheIsInput) {
  const std::vector<Token> prompt = Tokens(16);
  const SequenceHandle drawn = Prefill({prompt[0]});
  ASSERT_TRUE(Decode(drawn, 31).ok());
  std::vector<Token> tokens = {prompt[0]};
  LaneWork work = Lane(1, tokens, 31);
  const std::vector<Token> text = RunOne(work).tokens;
  tokens.insert(tokens.end(), text.begin(), text.end());
  ASSERT_TRUE(generation_->PublishSequence(drawn, tokens, {}).ok());
  const auto grammar = generation_->CreateGrammar(R"({"type":"null"})", {});
  ASSERT_TRUE(grammar.ok());
  work = Lane(2, tokens, 9);
  work.grammar = *grammar;
  EXPECT_THAT(RunOne(work).tokens, ElementsAre('n', 'u', 'l', 'l', kSimEndOfText));
}

TEST_F(SimLaneTest, TextThatIsNotTheGrammarsIsRefused) {
  const auto grammar = generation_->CreateGrammar(R"({"type":"null"})", {});
  ASSERT_TRUE(grammar.ok());
  const LaneResult free_text = RunOne(Lane(1, input_, 5));
  LaneWork work = Lane(1, {}, 1);
  work.sequence = free_text.sequence;
  work.grammar = *grammar;
  EXPECT_THAT(ErrorOf(work), HasCode(kInvalid));
  // New input starts a new text.
  work.input = input_;
  work.max_tokens = 5;
  const LaneResult result = RunOne(work);
  EXPECT_THAT(result.tokens, ElementsAre('n', 'u', 'l', 'l', kSimEndOfText));
}

TEST_F(SimLaneTest, MediaAreBoundToTheNextInput) {
  const auto media = generation_->EncodeMedia(WriteFile("image", std::string(130, 'i')), {});
  ASSERT_TRUE(media.ok());
  ASSERT_EQ(media->info.n_tokens, 3U);
  const LaneResult plain = RunOne(Lane(1, input_, 4));
  ASSERT_TRUE(generation_->BindMedia(LaneTag{1}, media->handle, 2).ok());
  EXPECT_EQ(RunOne(Lane(2, input_, 4)).tokens, plain.tokens);  // another lane
  const LaneResult with = RunOne(Lane(1, input_, 4));
  EXPECT_NE(with.tokens, plain.tokens);
  EXPECT_EQ(RunOne(Lane(1, input_, 4)).tokens, plain.tokens);  // once
  ASSERT_TRUE(generation_->BindMedia(LaneTag{1}, media->handle, 18).ok());
  EXPECT_THAT(ErrorOf(Lane(1, input_, 4)), HasCode(kInvalid));
}

TEST_F(SimLaneTest, AFullPoolPutsTheLaneBack) {
  Make({{"pool_blocks", "3"}});
  const SequenceHandle sequence = Prefill(Tokens(30));
  LaneWork work = Lane(1, {}, 40);
  work.sequence = sequence;
  EXPECT_THAT(ErrorOf(work), HasCode(kExhausted));
  work.max_tokens = 0;
  work.kind = LaneKind::kPrefill;
  EXPECT_EQ(RunOne(work).position, 30U);
  const std::vector<Token> big = Tokens(60);
  EXPECT_THAT(ErrorOf(Lane(2, big, 0)), HasCode(kExhausted));
  EXPECT_EQ(generation_->Memory().pool_blocks_used, 2U);
  EXPECT_TRUE(Decode(sequence, 18).ok());
}

TEST_F(SimLaneTest, AFullPoolEvictsTheCache) {
  Make({{"pool_blocks", "3"}});
  const SequenceHandle first = Prefill(Tokens(48));
  ASSERT_TRUE(generation_->PublishSequence(first, Tokens(48), {}).ok());
  ASSERT_TRUE(generation_->FreeSequence(first).ok());
  EXPECT_EQ(generation_->Memory().pool_blocks_used, 3U);
  Prefill(Tokens(48, 9));
  EXPECT_EQ(generation_->Match(Tokens(48), {})->front().matched_tokens, 0U);
}

TEST_F(SimLaneTest, TooManySequencesAreRefused) {
  Make({{"max_sequences", "1"}});
  Prefill(input_);
  EXPECT_THAT(ErrorOf(Lane(2, input_, 0)), HasCode(kExhausted));
  EXPECT_THAT(generation_->CreateSequence(), HasCode(kExhausted));
}

TEST_F(SimLaneTest, VerifyEndsWithTheFirstWrongDraft) {
  const LaneResult plain = RunOne(Lane(1, input_, 4));
  std::vector<Token> drafts = plain.tokens;
  drafts[2] = (drafts[2] + 1) % 256;
  LaneWork verify = Lane(2, input_, 100);
  verify.kind = LaneKind::kVerify;
  verify.drafts = drafts;
  LaneResult result = RunOne(verify);
  EXPECT_EQ(absl::MakeConstSpan(result.tokens), absl::MakeConstSpan(plain.tokens).first(3));
  EXPECT_EQ(result.accepted_drafts, 2U);
  EXPECT_EQ(result.finish, FinishReason::kNotFinished);
  verify.tag = LaneTag{3};
  verify.max_tokens = 2;
  EXPECT_THAT(RunOne(verify).tokens, SizeIs(2));
  verify.tag = LaneTag{4};
  verify.drafts = {};
  EXPECT_THAT(RunOne(verify).tokens, SizeIs(1));
}

TEST_F(SimLaneTest, AStrategysDraftsAreCounted) {
  StrategySpec spec;
  spec.rng_contract_version = 1;
  spec.strategy_id = "sim.oracle:drafts=3,wrong=0";
  const auto terms = generation_->RegisterStrategy(spec);
  ASSERT_TRUE(terms.ok());
  const LaneResult plain = RunOne(Lane(1, input_, 8));
  EXPECT_EQ(plain.accepted_drafts, 0U);
  LaneWork work = Lane(2, input_, 8);
  work.strategy = terms->slot;
  const LaneResult result = RunOne(work);
  EXPECT_EQ(result.tokens, plain.tokens);
  EXPECT_EQ(result.accepted_drafts, 6U);  // of each four the last came without a draft
}

TEST_F(SimLaneTest, LogitsAreThoseOfTheLastDraw) {
  LaneWork work = Lane(1, input_, 0);
  work.want_logits = true;
  const LaneResult prefill = RunOne(work);
  ASSERT_THAT(prefill.logits, SizeIs(kMaxLaneLogits));
  work = Lane(1, {}, 1);
  work.sequence = prefill.sequence;
  work.want_logits = true;
  const LaneResult decode = RunOne(work);
  EXPECT_EQ(decode.logits, prefill.logits);
  EXPECT_EQ(decode.logits[0].token, decode.tokens[0]);
  const LaneResult next = RunOne(work);
  EXPECT_EQ(next.logits[0].token, next.tokens[0]);
  for (size_t i = 1; i < next.logits.size(); ++i) {
    EXPECT_GE(next.logits[i - 1].logit, next.logits[i].logit);
  }
}

TEST_F(SimLaneTest, StopTokensEndTheLane) {
  const LaneResult whole = RunOne(Lane(1, input_, 10));
  const std::vector<Token> stops = {whole.tokens[4]};
  LaneWork work = Lane(2, input_, 10);
  work.stop_tokens = stops;
  const LaneResult result = RunOne(work);
  EXPECT_EQ(result.finish, FinishReason::kStopToken);
  EXPECT_EQ(result.tokens.back(), stops[0]);
  EXPECT_LE(result.tokens.size(), 5U);
  EXPECT_EQ(result.position, 20 + result.tokens.size());
}

TEST_F(SimLaneTest, TheContextIsTheEnd) {
  Make({{"context", "24"}});
  const LaneResult result = RunOne(Lane(1, input_, 10));
  EXPECT_THAT(result.tokens, SizeIs(4));
  EXPECT_EQ(result.finish, FinishReason::kLength);
  LaneWork more = Lane(1, {}, 1);
  more.sequence = result.sequence;
  EXPECT_EQ(RunOne(more).finish, FinishReason::kLength);
  EXPECT_THAT(RunOne(more).tokens, IsEmpty());
  const std::vector<Token> one = {1};
  more = Lane(1, one, 0);
  more.sequence = result.sequence;
  EXPECT_THAT(ErrorOf(more), HasCode(kInvalid));
  const std::vector<Token> long_input = Tokens(25);
  EXPECT_THAT(ErrorOf(Lane(1, long_input, 0)), HasCode(kInvalid));
}

}  // namespace
}  // namespace superfluid
