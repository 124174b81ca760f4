#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/engine/llama/library_alone.h"
#include "tests/engine/llama/llama_fixture.h"

namespace superfluid::testing {
namespace {

using ::testing::ElementsAreArray;
using ::testing::IsEmpty;

class LlamaTickTest : public LlamaFixture {};

// Stops a lane once it has drawn so many tokens; keeps what is emitted.
class StoppingHost : public QuietHost {
 public:
  StoppingHost(size_t lane, size_t tokens) : lane_(lane), tokens_(tokens) {}
  bool LaneStopped(size_t lane) override {
    return lane == lane_ && emitted.size() > lane && emitted[lane].size() >= tokens_;
  }

 private:
  const size_t lane_;
  const size_t tokens_;
};

TEST_F(LlamaTickTest, GreedyEqualsTheLibraryAlone) {
  LibraryAlone library(ModelFile("tiny_llama.gguf"));
  ASSERT_TRUE(library.good());
  for (const size_t length : {1, 7, 33, 200}) {
    const std::vector<Token> prompt = Prompt(length, length);
    const std::vector<Token> expected = library.Greedy(prompt, 40);
    EXPECT_THAT(Draw(Greedy(prompt, static_cast<uint32_t>(expected.size()))),
                ElementsAreArray(expected));
  }
}

TEST_F(LlamaTickTest, TwoHundredLanesDrawAsEachAlone) {
  std::vector<Script> scripts;
  std::vector<LaneWork> lanes;
  std::vector<std::vector<Token>> alone;
  for (size_t i = 0; i < 200; ++i) {
    scripts.push_back(Greedy(Prompt(3 + i % 11, i), 5));
    scripts.back().sampling.temperature = i % 2 == 0 ? 0 : 0.8F;
    scripts.back().sampling.seed = i;
    alone.push_back(Draw(scripts.back()));
  }
  lanes.reserve(scripts.size());
  for (const Script& script : scripts) {
    lanes.push_back(driver().LaneFor(script, {}, script.prompt, script.draws));
  }
  QuietHost host;
  const auto results = RunTick(lanes, {}, host);
  for (size_t i = 0; i < lanes.size(); ++i) {
    ASSERT_TRUE(results[i].status.ok()) << results[i].status;
    EXPECT_EQ(results[i].tokens, alone[i]) << i;
    EXPECT_EQ(host.emitted[i], alone[i]);
    EXPECT_EQ(results[i].position, scripts[i].prompt.size() + 5);
  }
}

TEST_F(LlamaTickTest, AllLanesThatATickMayHave) {
  std::vector<Script> scripts;
  std::vector<LaneWork> lanes;
  for (size_t i = 0; i < 256; ++i) scripts.push_back(Greedy(Prompt(2, i), 2));
  lanes.reserve(scripts.size());
  for (const Script& script : scripts) {
    lanes.push_back(driver().LaneFor(script, {}, script.prompt, 2));
  }
  QuietHost host;
  for (const LaneResult& result : RunTick(lanes, {}, host)) {
    EXPECT_TRUE(result.status.ok()) << result.status;
    EXPECT_EQ(result.tokens.size(), 2U);
  }
  // The library has no more sequences.
  const auto more = driver().Plain(Greedy(Prompt(2), 1));
  EXPECT_TRUE(absl::IsResourceExhausted(more.status())) << more.status();
  lanes.push_back(lanes.front());
  lanes.back().tag = LaneTag{77'777};
  Tick tick;
  tick.lanes = lanes;
  EXPECT_TRUE(absl::IsInvalidArgument(generation().RunTick(tick, {}, host).status()));
}

TEST_F(LlamaTickTest, LogitsAreThoseOfTheDraw) {
  const Script script = Greedy(Prompt(20), 3);
  LaneWork work = driver().LaneFor(script, {}, script.prompt, 3);
  work.want_logits = true;
  const auto drawn = driver().RunLane(work);
  ASSERT_TRUE(drawn.ok()) << drawn.status();
  ASSERT_EQ(drawn->logits.size(), kMaxLaneLogits);
  EXPECT_EQ(drawn->logits[0].token, drawn->tokens.back());
  // A prefill lane's are of its last token, and name what a draw then gives.
  LaneWork prefill = driver().LaneFor(script, {}, script.prompt, 0);
  prefill.want_logits = true;
  const auto read = driver().RunLane(prefill);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->logits[0].token, drawn->tokens[0]);
  const auto next = driver().RunLane(driver().LaneFor(script, read->sequence, {}, 3));
  ASSERT_TRUE(next.ok()) << next.status();
  EXPECT_EQ(next->tokens, drawn->tokens);
}

TEST_F(LlamaTickTest, WhatIsWrongWithALaneIsItsOwn) {
  const Script script = Greedy(Prompt(9), 4);
  const std::vector<Token> expected = Draw(script);
  const std::vector<Token> bad = {1, engine_->info().vocab_size};
  std::vector<LaneWork> lanes;
  lanes.reserve(6);
  for (int i = 0; i < 6; ++i) lanes.push_back(driver().LaneFor(script, {}, script.prompt, 4));
  lanes[0].input = bad;
  lanes[1].input = {};
  lanes[2].grammar = GrammarHandle{99};
  lanes[3].sampling.temperature = -1;
  lanes[4].sequence = SequenceHandle{12'345};
  QuietHost host;
  const auto results = RunTick(lanes, {}, host);
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(results[i].status.ok()) << i;
    EXPECT_EQ(results[i].finish, FinishReason::kError);
    EXPECT_THAT(results[i].tokens, IsEmpty());
  }
  EXPECT_EQ(results[5].tokens, expected);
}

TEST_F(LlamaTickTest, StopsAtStopTokensAndAtTheContext) {
  Start({{"context", "32"}});
  Script script = Greedy(Prompt(10), 20);
  const std::vector<Token> drawn = Draw(script);
  script.stop_tokens = {drawn[6]};
  const auto first = std::find(drawn.begin(), drawn.end(), drawn[6]);
  const auto stopped = driver().Plain(script);
  ASSERT_TRUE(stopped.ok());
  EXPECT_EQ(stopped->finish, FinishReason::kStopToken);
  EXPECT_THAT(stopped->tokens, ElementsAreArray(drawn.begin(), first + 1));
  const auto full = driver().Plain(Greedy(Prompt(30), 20));
  ASSERT_TRUE(full.ok());
  EXPECT_EQ(full->finish, FinishReason::kLength);
  EXPECT_EQ(full->position, 32U);
  const auto again = driver().RunLane(driver().LaneFor(script, full->sequence, {}, 1));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->finish, FinishReason::kLength);
  EXPECT_THAT(again->tokens, IsEmpty());
  EXPECT_TRUE(absl::IsInvalidArgument(driver().Plain(Greedy(Prompt(33), 1)).status()));
}

TEST_F(LlamaTickTest, AStoppedLaneKeepsWhatItHasAndOthersGoOn) {
  const Script script = Greedy(Prompt(12), 10);
  const std::vector<Token> expected = Draw(script);
  std::vector<LaneWork> lanes = {driver().LaneFor(script, {}, script.prompt, 10),
                                 driver().LaneFor(script, {}, script.prompt, 10)};
  StoppingHost host(1, 4);
  const auto results = RunTick(lanes, {}, host);
  EXPECT_EQ(results[0].tokens, expected);
  EXPECT_EQ(results[1].finish, FinishReason::kStopped);
  EXPECT_THAT(results[1].tokens, ElementsAreArray(expected.begin(), expected.begin() + 4));
  const auto rest = driver().RunLane(driver().LaneFor(script, results[1].sequence, {}, 6));
  ASSERT_TRUE(rest.ok());
  EXPECT_THAT(rest->tokens, ElementsAreArray(expected.begin() + 4, expected.end()));
}

TEST_F(LlamaTickTest, AFullCacheFailsTheLastLanesOnly) {
  Start({{"kv_tokens", "256"}, {"context", "256"}});
  ASSERT_EQ(engine_->Memory().pool_blocks_total, 16U);
  const Script large = Greedy(Prompt(200), 2);
  const std::vector<Token> expected = Draw(large);
  std::vector<LaneWork> lanes = {driver().LaneFor(large, {}, large.prompt, 2),
                                 driver().LaneFor(large, {}, large.prompt, 2)};
  QuietHost host;
  const auto results = RunTick(lanes, {}, host);
  EXPECT_EQ(results[0].tokens, expected);
  EXPECT_TRUE(absl::IsResourceExhausted(results[1].status)) << results[1].status;
  ASSERT_TRUE(driver().Free(results[0].sequence).ok());
  EXPECT_EQ(engine_->Memory().pool_blocks_used, 0U);
  EXPECT_EQ(Draw(large), expected);
}

TEST_F(LlamaTickTest, AFullCacheFailsALaneThatWasDrawingAsItWasBefore) {
  Start({{"kv_tokens", "256"}, {"context", "256"}});
  const Script script = Greedy(Prompt(120), 100);
  const std::vector<Token> expected = Draw(script);
  const auto made = driver().RunLane(driver().LaneFor(script, {}, script.prompt, 0));
  const auto other = driver().RunLane(driver().LaneFor(script, {}, script.prompt, 0));
  ASSERT_TRUE(made.ok() && other.ok());
  const auto failed = driver().RunLane(driver().LaneFor(script, made->sequence, {}, 100));
  EXPECT_TRUE(absl::IsResourceExhausted(failed.status())) << failed.status();
  ASSERT_TRUE(driver().Free(other->sequence).ok());
  const auto retried = driver().RunLane(driver().LaneFor(script, made->sequence, {}, 100));
  ASSERT_TRUE(retried.ok()) << retried.status();
  EXPECT_EQ(retried->tokens, expected);
  EXPECT_TRUE(generation_->CheckInvariants());
}

TEST_F(LlamaTickTest, TheCacheGivesWayToSequences) {
  Start({{"kv_tokens", "256"}, {"context", "256"}});
  const Script script = Greedy(Prompt(160), 1);
  const auto made = driver().Plain(script);
  ASSERT_TRUE(made.ok());
  ASSERT_TRUE(generation().PublishSequence(made->sequence, script.prompt, {}).ok());
  ASSERT_TRUE(driver().Free(made->sequence).ok());
  EXPECT_EQ(engine_->Memory().pool_blocks_used, 10U);
  EXPECT_EQ(engine_->Memory().pool_bytes_evictable,
            uint64_t{10} * 16 * (engine_->Memory().pool_bytes_evictable / 160));
  EXPECT_EQ(Draw(Greedy(Prompt(240, 9), 4)).size(), 4U);
  EXPECT_LT((*generation().Match(script.prompt, {}))[0].matched_tokens, 160U);
}

TEST_F(LlamaTickTest, SequenceIdsComeFromTheCacheIfThereAreNoOthers) {
  std::vector<SequenceHandle> sequences;
  for (size_t i = 0; i < 200; ++i) {
    const Script script = Greedy(Prompt(16, i), 1);
    const auto made = driver().Plain(script);
    ASSERT_TRUE(made.ok());
    ASSERT_TRUE(generation().PublishSequence(made->sequence, script.prompt, {}).ok()) << i;
    sequences.push_back(made->sequence);
  }
  for (const SequenceHandle sequence : sequences) ASSERT_TRUE(driver().Free(sequence).ok());
  for (size_t i = 0; i < 250; ++i) {
    const auto made = driver().Plain(Greedy(Prompt(4, 1000 + i), 1));
    ASSERT_TRUE(made.ok()) << i << made.status();
  }
  EXPECT_TRUE(generation_->CheckInvariants());
}

TEST_F(LlamaTickTest, AdaptersChangeWhatIsDrawnAndComeOff) {
  const Script script = Greedy(Prompt(12), 16);
  const std::vector<Token> plain = Draw(script);
  const auto made = driver().Plain(script);
  ASSERT_TRUE(made.ok());
  const auto loaded = generation().LoadAdapter(ModelFile("tiny_lora.gguf"), {});
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const std::vector<Token> adapted = Draw(script);
  EXPECT_NE(adapted, plain);
  const auto refused = driver().RunLane(driver().LaneFor(script, made->sequence, {}, 1));
  EXPECT_TRUE(absl::IsFailedPrecondition(refused.status()));
  EXPECT_TRUE(absl::IsInvalidArgument(
      generation().LoadAdapter(ModelFile("wrong_shape_lora.gguf"), {}).status()));
  EXPECT_TRUE(
      absl::IsInvalidArgument(generation().LoadAdapter(ModelFile("tiny_llama.gguf"), {}).status()));
  EXPECT_TRUE(absl::IsNotFound(generation().LoadAdapter("no/such/file", {}).status()));
  EXPECT_EQ(*generation().CurrentAdapter(), *loaded);
  EXPECT_EQ(Draw(script), adapted);
  const auto other = generation().LoadAdapter(ModelFile("tiny_lora_other.gguf"), {});
  ASSERT_TRUE(other.ok());
  EXPECT_NE(Draw(script), adapted);
  ASSERT_TRUE(generation().UnloadAdapter().ok());
  EXPECT_EQ(*generation().CurrentAdapter(), AdapterId{});
  EXPECT_EQ(Draw(script), plain);
}

TEST_F(LlamaTickTest, EmbeddingsAreOfTheTokensAndLeaveNothing) {
  const auto first = generation().Embed(Prompt(9), {});
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(first->size(), 64U);
  EXPECT_EQ(*generation().Embed(Prompt(9), {}), *first);
  EXPECT_NE(*generation().Embed(Prompt(9, 2), {}), *first);
  EXPECT_TRUE(absl::IsInvalidArgument(generation().Embed({}, {}).status()));
  EXPECT_TRUE(
      absl::IsInvalidArgument(generation().Embed({engine_->info().vocab_size}, {}).status()));
  EXPECT_EQ(engine_->Memory().pool_blocks_used, 0U);
  // Between draws they change nothing.
  const Script script = Greedy(Prompt(12), 6);
  EXPECT_EQ(Draw(script), Draw(script));
}

}  // namespace
}  // namespace superfluid::testing
