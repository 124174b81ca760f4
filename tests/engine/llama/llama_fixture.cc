#include "tests/engine/llama/llama_fixture.h"

#include "engine/llama/llama_engine.h"
#include "engine/sampling/mix.h"

namespace superfluid::testing {

std::string ModelFile(const std::string& name) { return "tools/models/" + name; }

EngineConfig LlamaConfig(const std::string& model, LlamaTestOptions options) {
  EngineConfig config;
  config.model_path = model;
  config.threads = 1;
  config.options = {{"kv_type", "f32"}, {"flash_attention", "off"}};
  config.options.insert(config.options.end(), options.begin(), options.end());
  return config;
}

void LlamaFixture::Start(LlamaTestOptions options, const std::string& model) {
  driver_.reset();
  engine_.reset();
  auto engine = MakeLlamaEngine(LlamaConfig(ModelFile(model), std::move(options)));
  ASSERT_TRUE(engine.ok()) << engine.status();
  engine_ = *std::move(engine);
  generation_ = static_cast<LlamaGeneration*>(engine_->generation());
  driver_ = std::make_unique<GenerationDriver>(*generation_);
}

std::vector<Token> LlamaFixture::Prompt(size_t length, uint64_t seed) const {
  std::vector<Token> tokens;
  tokens.reserve(length);
  for (size_t i = 0; i < length; ++i) {
    tokens.push_back(static_cast<Token>(Mix(seed, i) % engine_->info().vocab_size));
  }
  return tokens;
}

Script LlamaFixture::Greedy(std::vector<Token> prompt, uint32_t draws) const {
  Script script;
  script.prompt = std::move(prompt);
  script.draws = draws;
  return script;
}

std::vector<Token> LlamaFixture::Draw(const Script& script) {
  const auto result = driver().Plain(script);
  EXPECT_TRUE(result.ok()) << result.status();
  if (!result.ok()) return {};
  EXPECT_TRUE(driver().Free(result->sequence).ok());
  return result->tokens;
}

std::vector<LaneResult> LlamaFixture::RunTick(const std::vector<LaneWork>& lanes,
                                              const CancelToken& token, TickHost& host) {
  Tick tick;
  tick.lanes = lanes;
  tick.partial_emits = true;
  auto results = generation().RunTick(tick, token, host);
  EXPECT_TRUE(results.ok()) << results.status();
  if (!results.ok()) return std::vector<LaneResult>(lanes.size());
  return *std::move(results);
}

}  // namespace superfluid::testing
