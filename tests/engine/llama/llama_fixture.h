#ifndef SUPERFLUID_TESTS_ENGINE_LLAMA_LLAMA_FIXTURE_H_
#define SUPERFLUID_TESTS_ENGINE_LLAMA_LLAMA_FIXTURE_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/engine.h"
#include "engine/llama/llama_generation.h"
#include "tests/engine/properties/generation_driver.h"

namespace superfluid::testing {

using LlamaTestOptions = std::vector<std::pair<std::string, std::string>>;

// Of tools/models: "tiny_llama.gguf".
std::string ModelFile(const std::string& name);
// An f32 KV cache, one thread and short leases of ticks, then `options`.
EngineConfig LlamaConfig(const std::string& model, LlamaTestOptions options);

// The tiny model behind the Engine interface.
class LlamaFixture : public ::testing::Test {
 protected:
  // Starts the engine with these options; fails the test if it does not start.
  void Start(LlamaTestOptions options = {}, const std::string& model = "tiny_llama.gguf");
  void SetUp() override { Start(); }

  Generation& generation() { return *generation_; }
  GenerationDriver& driver() { return *driver_; }
  // A prompt that `seed` determines.
  std::vector<Token> Prompt(size_t length, uint64_t seed = 1) const;
  Script Greedy(std::vector<Token> prompt, uint32_t draws) const;
  // What comes of it on a new sequence, which is freed.
  std::vector<Token> Draw(const Script& script);
  std::vector<LaneResult> RunTick(const std::vector<LaneWork>& lanes, const CancelToken& token,
                                  TickHost& host);

  std::unique_ptr<Engine> engine_;
  LlamaGeneration* generation_ = nullptr;
  std::unique_ptr<GenerationDriver> driver_;
};

}  // namespace superfluid::testing

#endif  // SUPERFLUID_TESTS_ENGINE_LLAMA_LLAMA_FIXTURE_H_
