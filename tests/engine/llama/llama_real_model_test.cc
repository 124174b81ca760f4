// The story model of SUPERFLUID_TEST_MODELS, if it is there.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "engine/llama/llama_engine.h"
#include "tests/engine/llama/library_alone.h"
#include "tests/engine/llama/llama_fixture.h"

namespace superfluid::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class LlamaRealModelTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("SUPERFLUID_TEST_MODELS");
    if (folder == nullptr) GTEST_SKIP() << "SUPERFLUID_TEST_MODELS is not set";
    model_ = std::string(folder) + "/stories260K.gguf";
    if (!std::filesystem::exists(model_)) GTEST_SKIP() << "there is no " << model_;
  }

  std::string model_;
};

TEST_F(LlamaRealModelTest, TicksWriteTheStoryThatTheLibraryWrites) {
  LibraryAlone library(model_);
  ASSERT_TRUE(library.good());
  const std::vector<Token> prompt = library.Tokens("Once upon a time");
  const std::vector<Token> expected = library.Greedy(prompt, 200);
  EXPECT_THAT(library.Text(expected), StartsWith(", there was a little girl named Lily"));
  EXPECT_THAT(library.Text(expected), HasSubstr(". "));
  const auto engine = MakeLlamaEngine(LlamaConfig(model_, {}));
  ASSERT_TRUE(engine.ok()) << engine.status();
  GenerationDriver driver(*(*engine)->generation());
  // A tick a token, a tick of everything, and ticks of 16.
  for (const uint32_t per_tick : {1U, 16U, 200U}) {
    Script script;
    script.prompt = prompt;
    std::vector<Token> drawn;
    SequenceHandle sequence{};
    while (drawn.size() < expected.size()) {
      const absl::Span<const Token> input =
          drawn.empty() ? absl::MakeConstSpan(prompt) : absl::Span<const Token>();
      const auto left = static_cast<uint32_t>(expected.size() - drawn.size());
      const auto result =
          driver.RunLane(driver.LaneFor(script, sequence, input, std::min(per_tick, left)));
      ASSERT_TRUE(result.ok()) << result.status();
      sequence = result->sequence;
      drawn.insert(drawn.end(), result->tokens.begin(), result->tokens.end());
    }
    EXPECT_EQ(library.Text(drawn), library.Text(expected)) << per_tick;
    EXPECT_EQ(drawn, expected);
    ASSERT_TRUE(driver.Free(sequence).ok());
  }
}

TEST_F(LlamaRealModelTest, PromptLookupWritesTheSameStory) {
  LibraryAlone library(model_);
  ASSERT_TRUE(library.good());
  const std::vector<Token> prompt = library.Tokens("Once upon a time");
  const std::vector<Token> expected = library.Greedy(prompt, 200);
  const auto engine = MakeLlamaEngine(LlamaConfig(model_, {}));
  ASSERT_TRUE(engine.ok());
  GenerationDriver driver(*(*engine)->generation());
  Script script;
  LaneWork work = driver.LaneFor(script, {}, prompt, static_cast<uint32_t>(expected.size()));
  work.strategy = StrategySlot{1};
  const auto result = driver.RunLane(work);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->tokens, expected);
  EXPECT_GT(result->accepted_drafts, 5U);
}

}  // namespace
}  // namespace superfluid::testing
