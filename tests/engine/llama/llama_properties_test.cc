// Whatever way tokens are drawn, they are those of the plain run. At the Engine interface, with the
// tiny model: with the option "exact", where it holds by construction, and as usual, with an f32 KV
// cache, where what is computed in other company differs in its last bits. There the draws of these
// seeds do not, which is checked for fewer cases.

#include <gtest/gtest.h>

#include <string>

#include "tests/engine/llama/llama_fixture.h"
#include "tests/engine/properties/generation_properties.h"
#include "tests/engine/properties/property_run.h"

namespace superfluid {
namespace {

using testing::CaseRandom;
using testing::GenerationProperties;
using testing::LlamaFixture;
using testing::ModelFile;
using testing::PropertyLimits;
using testing::RunProperty;

constexpr char kSchema[] = R"({"type": "object", "properties": {
    "name": {"type": "string", "maxLength": 12}, "age": {"type": "integer"},
    "kind": {"enum": ["cat", "dog", "cow"]}}, "required": ["name"],
    "additionalProperties": false})";
constexpr char kTags[] = R"({"structures": [{"begin": "<n>", "schema": {"type": "number"},
    "end": "</n>"}], "triggers": ["<"]})";

struct Mode {
  const char* exact;
  int cases;
};

class LlamaPropertiesTest : public LlamaFixture, public ::testing::WithParamInterface<Mode> {
 protected:
  void SetUp() override {
    // Passes of few tokens, so that prompts take several.
    Start({{"exact", GetParam().exact},
           {"batch", "48"},
           {"ubatch", "16"},
           {"kv_tokens", "4096"},
           {"context", "512"}});
    ASSERT_FALSE(HasFatalFailure());
    limits_.vocab = engine_->info().vocab_size;
    limits_.grammars = {*generation().CreateGrammar(kSchema, {}),
                        *generation().CreateStructuralGrammar(kTags, {})};
    limits_.biases = {*generation().CreateLogitBias({1, 2, 300}, {20, -5, 3})};
    StrategySpec spec;
    spec.rng_contract_version = 1;
    spec.strategy_id = "llama.prompt_lookup:n=1,drafts=6";
    const auto lookup = generation().RegisterStrategy(spec);
    ASSERT_TRUE(lookup.ok()) << lookup.status();
    limits_.strategies = {StrategySlot{1}, lookup->slot};
    limits_.adapters = {"", ModelFile("tiny_lora.gguf"), ModelFile("tiny_lora_other.gguf")};
  }

  void Run(const std::string& name, absl::Status (GenerationProperties::*property)(CaseRandom&)) {
    GenerationProperties properties(generation(), limits_);
    RunProperty(name, GetParam().cases, [&](CaseRandom& random) {
      absl::Status status = (properties.*property)(random);
      if (status.ok() && !generation_->CheckInvariants()) {
        status = absl::InternalError("the invariants do not hold");
      }
      return status;
    });
    // Every case frees what it made.
    EXPECT_EQ(generation().EvictCache(UINT64_MAX, {UINT32_MAX, 0, 0}).status(), absl::OkStatus());
    EXPECT_EQ(engine_->Memory().pool_blocks_used, 0U);
  }

  PropertyLimits limits_;
};

TEST_P(LlamaPropertiesTest, Restored) {
  Run("restored", &GenerationProperties::RestoredEqualsPlain);
}
TEST_P(LlamaPropertiesTest, Promoted) {
  Run("promoted", &GenerationProperties::PromotedEqualsPlain);
}
TEST_P(LlamaPropertiesTest, Forked) { Run("forked", &GenerationProperties::ForkedEqualsPlain); }
TEST_P(LlamaPropertiesTest, Redone) { Run("redone", &GenerationProperties::RedoneEqualsPlain); }
TEST_P(LlamaPropertiesTest, Adopted) { Run("adopted", &GenerationProperties::AdoptedEqualsPlain); }
TEST_P(LlamaPropertiesTest, PrefixHit) {
  Run("prefix hit", &GenerationProperties::PrefixHitEqualsPlain);
}
TEST_P(LlamaPropertiesTest, Verified) {
  Run("verified", &GenerationProperties::VerifiedEqualsPlain);
}
TEST_P(LlamaPropertiesTest, Strategy) {
  Run("strategy", &GenerationProperties::StrategyEqualsPlain);
}
TEST_P(LlamaPropertiesTest, Chunked) { Run("chunked", &GenerationProperties::ChunkedEqualsPlain); }
TEST_P(LlamaPropertiesTest, SplitTicks) {
  Run("split ticks", &GenerationProperties::SplitTicksEqualPlain);
}
TEST_P(LlamaPropertiesTest, SwappedAdapter) {
  Run("swapped adapter", &GenerationProperties::SwappedAdapterEqualsPlain);
}
TEST_P(LlamaPropertiesTest, Cancelled) {
  Run("cancelled", &GenerationProperties::CancelledEqualsPlain);
}

INSTANTIATE_TEST_SUITE_P(Exact, LlamaPropertiesTest, ::testing::Values(Mode{"1", 100}));
INSTANTIATE_TEST_SUITE_P(Batched, LlamaPropertiesTest, ::testing::Values(Mode{"0", 200}));

}  // namespace
}  // namespace superfluid
