// The example engine through the loader: what it says of itself, ticks, and its errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "tests/engine/examples/example_fixture.h"

namespace superfluid {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using testing::TextOf;
using testing::TokensOf;

constexpr Token kEnd = 256;

class ExampleEngineTest : public testing::ExampleFixture {
 protected:
  // Writes a file of its own for a model.
  static std::string ModelFile(const std::string& text) {
    std::string path = ::testing::TempDir() + "/example_model.txt";
    std::ofstream(path) << text;
    return path;
  }
  static EngineConfig WithOption(const std::string& key, const std::string& value) {
    EngineConfig config;
    config.options = {{key, value}};
    return config;
  }
};

TEST_F(ExampleEngineTest, DescribesItself) {
  EXPECT_EQ(engine_->info().name, "example");
  EXPECT_EQ(engine_->info().vocab_size, 257U);
  EXPECT_EQ(engine_->info().max_lanes, 64);
  EXPECT_EQ(engine_->info().max_transcriptions, 4);
  EXPECT_THAT(engine_->CapabilitiesJson(), HasSubstr("\"fork\""));
  ASSERT_THAT(generation().StateSpaces(), SizeIs(1));
  EXPECT_EQ(generation().StateSpaces()[0].name, "text");
  EXPECT_THAT(generation().Strategies(), IsEmpty());
}

TEST_F(ExampleEngineTest, WritesItsModelOn) {
  EXPECT_EQ(TextOf(Decode(Prefilled(TokensOf("When the worker says ")), 26)),
            "stop, the engine writes it");
}

TEST_F(ExampleEngineTest, TakesItsModelFromAFile) {
  EngineConfig config;
  config.model_path = ModelFile("one two three four");
  ASSERT_TRUE(Load(config).ok());
  LaneWork lane;
  const std::vector<Token> input = TokensOf("two");
  const std::vector<Token> stops = {kEnd};
  lane.input = input;
  lane.max_tokens = 100;
  lane.stop_tokens = stops;
  const LaneResult result = Run(lane);
  EXPECT_EQ(TextOf(result.tokens), " three four<end>");
  EXPECT_EQ(result.finish, FinishReason::kStopToken);
  EXPECT_EQ(result.position, 3 + 12U);
  std::remove(config.model_path.c_str());
}

TEST_F(ExampleEngineTest, OtherModelsHaveOtherCompatKeys) {
  const Digest before = generation().StateSpaces()[0].compat_key;
  EngineConfig config;
  config.model_path = ModelFile("one two three four");
  ASSERT_TRUE(Load(config).ok());
  EXPECT_NE(generation().StateSpaces()[0].compat_key, before);
  std::remove(config.model_path.c_str());
}

TEST_F(ExampleEngineTest, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(Load(WithOption("contxt", "5")).code(), absl::StatusCode::kInvalidArgument);
  for (const char* value : {"", "0", "-1", "5x", "9999999999"}) {
    EXPECT_EQ(Load(WithOption("context", value)).code(), absl::StatusCode::kInvalidArgument);
  }
  EngineConfig config;
  config.model_path = "/no/such/file";
  EXPECT_EQ(Load(config).code(), absl::StatusCode::kNotFound);
  config.model_path = ModelFile("");
  EXPECT_EQ(Load(config).code(), absl::StatusCode::kInvalidArgument);
  std::remove(config.model_path.c_str());
}

TEST_F(ExampleEngineTest, AnswersUnimplementedForWhatItLacks) {
  EXPECT_EQ(generation().CreateGrammar("{}", {}).status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(generation().Match({}, {}).status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(generation().LaneSequence(LaneTag{}).status().code(), absl::StatusCode::kUnimplemented);
}

TEST_F(ExampleEngineTest, EmitsWhatItDraws) {
  const SequenceHandle sequence = Prefilled(TokensOf("The engine "));
  EXPECT_EQ(Decode(sequence, 9), host_.emitted);
}

TEST_F(ExampleEngineTest, StopsBetweenTwoDraws) {
  LaneWork lane;
  const std::vector<Token> input = TokensOf("The ");
  lane.input = input;
  lane.max_tokens = 100;
  host_.draws_left = 3;
  const LaneResult result = Run(lane);
  EXPECT_EQ(result.finish, FinishReason::kStopped);
  EXPECT_THAT(result.tokens, SizeIs(3));
  EXPECT_EQ(result.position, 7U);
  token_.Cancel(CancelReason::kRequested, 1);
  lane.sequence = result.sequence;
  EXPECT_EQ(Run(lane).finish, FinishReason::kStopped);
}

TEST_F(ExampleEngineTest, EndsWhereTheContextEnds) {
  ASSERT_TRUE(Load(WithOption("context", "10")).ok());
  LaneWork lane;
  const std::vector<Token> input = TokensOf("The wor");
  lane.input = input;
  lane.max_tokens = 100;
  const LaneResult full = Run(lane);
  EXPECT_EQ(full.finish, FinishReason::kLength);
  EXPECT_EQ(TextOf(full.tokens), "ker");
  lane.sequence = full.sequence;
  EXPECT_EQ(Run(lane).status.code(), absl::StatusCode::kResourceExhausted);
  lane.input = {};
  const LaneResult nothing = Run(lane);
  EXPECT_EQ(nothing.finish, FinishReason::kLength);
  EXPECT_THAT(nothing.tokens, IsEmpty());
}

TEST_F(ExampleEngineTest, ALaneThatFailsLeavesNothingBehind) {
  const uint64_t before = engine_->Memory().allocated_bytes;
  LaneWork lane;
  lane.max_tokens = 1;
  EXPECT_EQ(Run(lane).status, absl::InvalidArgumentError("there is nothing to draw from"));
  EXPECT_EQ(engine_->Memory().allocated_bytes, before);
}

TEST_F(ExampleEngineTest, ReportsTheMostLikelyTokens) {
  LaneWork lane;
  const std::vector<Token> input = TokensOf("the worker asks for the stat");
  lane.input = input;
  lane.kind = LaneKind::kPrefill;
  lane.want_logits = true;
  const LaneResult result = Run(lane);
  ASSERT_THAT(result.logits, SizeIs(32));
  EXPECT_EQ(result.logits[0].token, Token{'e'});
  EXPECT_EQ(Decode(result.sequence, 1), std::vector<Token>{'e'});
}

TEST_F(ExampleEngineTest, ABiasSteers) {
  const std::vector<Token> tokens = {'e', 'z'};
  const std::vector<float> values = {-1000, 1000};
  LaneWork lane;
  const std::vector<Token> input = TokensOf("th");
  lane.input = input;
  lane.max_tokens = 3;
  lane.logit_bias = *generation().CreateLogitBias(tokens, values);
  EXPECT_EQ(TextOf(Run(lane).tokens), "zzz");
  EXPECT_TRUE(generation().FreeLogitBias(lane.logit_bias).ok());
  EXPECT_EQ(Run(lane).status.code(), absl::StatusCode::kNotFound);
}

TEST_F(ExampleEngineTest, TheRepetitionPenaltyVariesTheText) {
  const std::vector<Token> plain = Decode(Prefilled(TokensOf("the ")), 40);
  sampling_.repetition_penalty = 2;
  EXPECT_NE(Decode(Prefilled(TokensOf("the ")), 40), plain);
}

TEST_F(ExampleEngineTest, TheSeedDecides) {
  sampling_.temperature = 2;
  sampling_.seed = 1;
  const std::vector<Token> one = Decode(Prefilled(TokensOf("the ")), 40);
  EXPECT_EQ(Decode(Prefilled(TokensOf("the ")), 40), one);
  sampling_.seed = 2;
  EXPECT_NE(Decode(Prefilled(TokensOf("the ")), 40), one);
}

TEST_F(ExampleEngineTest, TrimAndForkRefuseWhatCannotBe) {
  const SequenceHandle sequence = Prefilled(TokensOf("the"));
  EXPECT_EQ(generation().Trim(sequence, SpaceId{}, 4).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(generation().Trim(sequence, SpaceId{1}, 1).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(generation().Fork(sequence, 1).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(ExampleEngineTest, TheEndOfASessionFreesAll) {
  const uint64_t before = engine_->Memory().allocated_bytes;
  const SequenceHandle sequence = Prefilled(TokensOf("the"));
  ASSERT_TRUE(generation().CreateLogitBias({}, {}).ok());
  EXPECT_GT(engine_->Memory().allocated_bytes, before);
  generation().EndSession();
  EXPECT_EQ(engine_->Memory().allocated_bytes, before);
  EXPECT_EQ(generation().FreeSequence(sequence).code(), absl::StatusCode::kNotFound);
}

TEST_F(ExampleEngineTest, HasRoomForSoManySequences) {
  std::vector<SequenceHandle> sequences;
  sequences.reserve(1024);
  for (int i = 0; i < 1024; ++i) sequences.push_back(*generation().CreateSequence());
  EXPECT_EQ(generation().CreateSequence().status().code(), absl::StatusCode::kResourceExhausted);
  LaneWork lane;
  lane.kind = LaneKind::kPrefill;
  EXPECT_EQ(Run(lane).status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(generation().FreeSequence(sequences[5]).ok());
  EXPECT_TRUE(generation().CreateSequence().ok());
}

}  // namespace
}  // namespace superfluid
