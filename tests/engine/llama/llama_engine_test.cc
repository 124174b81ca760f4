#include "engine/llama/llama_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/engine/llama/llama_fixture.h"

namespace superfluid::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

absl::Status StartOf(const std::string& model, LlamaTestOptions options = {}) {
  return MakeLlamaEngine(LlamaConfig(model, std::move(options))).status();
}

TEST(LlamaEngineTest, SaysWhatItIsAndServes) {
  const auto engine = MakeLlamaEngine(LlamaConfig(ModelFile("tiny_llama.gguf"), {}));
  ASSERT_TRUE(engine.ok()) << engine.status();
  const EngineInfo& info = (*engine)->info();
  EXPECT_EQ(info.name, "llama");
  EXPECT_EQ(info.max_lanes, 256);
  EXPECT_EQ(info.max_transcriptions, 0);
  EXPECT_EQ(info.kv_bits, 32U);
  EXPECT_EQ(info.vocab_size, 768U);
  const auto json = nlohmann::json::parse((*engine)->CapabilitiesJson());
  EXPECT_EQ(json["architecture"], "llama");
  EXPECT_EQ(json["context_tokens"], 4096);
  EXPECT_EQ(json["state_spaces"].size(), 1U);
  EXPECT_EQ(json["end_of_text_tokens"], nlohmann::json::array({2}));
  EXPECT_THAT(json["calls"], Contains("state_ops"));
  EXPECT_THAT(json["calls"], Not(Contains("media_probe")));
  EXPECT_THAT(json["calls"], Not(Contains("transcribe")));
  Generation& generation = *(*engine)->generation();
  EXPECT_TRUE(absl::IsUnimplemented(generation.ProbeMedia("a", {}).status()));
  EXPECT_TRUE(absl::IsUnimplemented(generation.ForwardStage({}, {}).status()));
  EXPECT_TRUE(absl::IsUnimplemented((*engine)->StartTranscription({}, nullptr).status()));
  EXPECT_GT((*engine)->Memory().allocated_bytes, 700'000U);
}

TEST(LlamaEngineTest, RefusesFilesThatAreNoModels) {
  EXPECT_EQ(StartOf("").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(StartOf("no/such/file.gguf").code(), absl::StatusCode::kNotFound);
  for (const char* kind :
       {"counts", "empty", "header", "magic", "missing_tensor", "random", "strings", "truncated"}) {
    const absl::Status status = StartOf(ModelFile(std::string("broken_llama_") + kind + ".gguf"));
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << kind << ": " << status;
  }
  EXPECT_THAT(StartOf(ModelFile("unknown_architecture.gguf")).message(), HasSubstr("nosuch"));
  EXPECT_THAT(StartOf(ModelFile("tiny_lora.gguf")).message(), HasSubstr("adapter"));
}

TEST(LlamaEngineTest, AModelOfNoNumbersFailsItsLanes) {
  const auto engine = MakeLlamaEngine(LlamaConfig(ModelFile("broken_llama_nan.gguf"), {}));
  ASSERT_TRUE(engine.ok()) << engine.status();
  GenerationDriver driver(*(*engine)->generation());
  Script script;
  script.prompt = {1, 2, 3};
  script.draws = 2;
  EXPECT_TRUE(absl::IsInvalidArgument(driver.Plain(script).status()));
}

// Any prefix of a model, and any byte of its header changed, is refused or loads; it never ends the
// process.
TEST(LlamaEngineTest, DamagedHeadersAreRefusedOrLoad) {
  std::ifstream file(ModelFile("tiny_llama.gguf"), std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(file), {}};
  ASSERT_GT(whole.size(), 100'000U);
  const std::string path = ::testing::TempDir() + "/damaged.gguf";
  for (size_t i = 0; i < 120; ++i) {
    std::string damaged = whole;
    if (i % 3 == 0) {
      damaged.resize(whole.size() * i / 120);
    } else {
      char& byte = damaged[i * 7919 % (i < 60 ? 400 : 24'000)];
      byte = static_cast<char>(static_cast<uint8_t>(byte) ^ (1U << (i % 8)));
    }
    std::ofstream(path, std::ios::binary | std::ios::trunc) << damaged;
    (void)StartOf(path);
  }
}

TEST(LlamaEngineTest, ChecksItsOptions) {
  const std::string model = ModelFile("tiny_llama.gguf");
  const LlamaTestOptions bad = {
      {"context", "7"}, {"context", "x"},     {"kv_type", "f64"},    {"flash_attention", "maybe"},
      {"exact", "2"},   {"gpu_layers", "-2"}, {"lora_scale", "nan"}, {"nonsense", "1"},
      {"ttl_ms", "0"},  {"batch", "0"}};
  for (const auto& option : bad) {
    const absl::Status status = StartOf(model, {option});
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << option.first;
    EXPECT_THAT(status.message(), HasSubstr(option.first));
  }
  EXPECT_EQ(StartOf(model, {{"exact", "1"}, {"flash_attention", "on"}}).code(),
            absl::StatusCode::kInvalidArgument);
  EngineConfig config = LlamaConfig(model, {});
  config.device = 7;
  EXPECT_EQ(MakeLlamaEngine(config).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(LlamaEngineTest, TheLibrarysLinesGoToTheLog) {
  std::vector<std::string> lines;
  std::mutex mutex;
  EngineConfig config = LlamaConfig(ModelFile("tiny_llama.gguf"), {});
  config.log = [&](EngineLogLevel /*level*/, absl::string_view line) {
    const std::lock_guard<std::mutex> lock(mutex);
    lines.emplace_back(line);
  };
  { const auto engine = MakeLlamaEngine(config); }
  EXPECT_THAT(lines, Contains(HasSubstr("n_ctx")));
  EXPECT_THAT(lines, Not(Contains(HasSubstr("\n"))));
  const size_t logged = lines.size();
  { const auto engine = MakeLlamaEngine(LlamaConfig(ModelFile("tiny_llama.gguf"), {})); }
  EXPECT_EQ(lines.size(), logged);
}

TEST(LlamaEngineTest, TheSessionEndsAndTheCacheAndAdapterStay) {
  const auto engine = MakeLlamaEngine(LlamaConfig(ModelFile("tiny_llama.gguf"), {}));
  ASSERT_TRUE(engine.ok());
  Generation& generation = *(*engine)->generation();
  GenerationDriver driver(generation);
  ASSERT_TRUE(generation.LoadAdapter(ModelFile("tiny_lora.gguf"), {}).ok());
  Script script;
  script.prompt.assign(40, 300);
  script.draws = 2;
  const auto made = driver.Plain(script);
  ASSERT_TRUE(made.ok());
  ASSERT_TRUE(generation.AdoptSequence(made->sequence, script.prompt, {}).ok());
  const auto grammar = generation.CreateGrammar(R"({"type": "null"})", {});
  generation.EndSession();
  EXPECT_TRUE(absl::IsNotFound(generation.FreeSequence(made->sequence)));
  EXPECT_TRUE(absl::IsNotFound(generation.FreeGrammar(*grammar)));
  EXPECT_EQ((*generation.Match(script.prompt, {}))[0].matched_tokens, 32U);
  EXPECT_EQ((*engine)->Memory().pool_blocks_used, 2U);
  EXPECT_NE(*generation.CurrentAdapter(), AdapterId{});
  (*engine)->Reset();
  EXPECT_EQ((*engine)->Memory().pool_blocks_used, 0U);
  EXPECT_EQ(*generation.CurrentAdapter(), AdapterId{});
}

}  // namespace
}  // namespace superfluid::testing
