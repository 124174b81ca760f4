// Whatever way tokens are drawn, they are those of the plain run. At the Engine interface.

#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <string>

#include "engine/sim/sim_engine.h"
#include "engine/sim/sim_generation.h"
#include "tests/engine/abi/engine_test_util.h"
#include "tests/engine/properties/generation_properties.h"
#include "tests/engine/properties/property_run.h"

namespace superfluid {
namespace {

using testing::CaseRandom;
using testing::ConfigWith;
using testing::GenerationProperties;
using testing::PropertyLimits;
using testing::RunProperty;

constexpr int kCases = 1000;

constexpr char kSchema[] = R"({"type": "object", "properties": {
    "name": {"type": "string", "maxLength": 12}, "age": {"type": "integer"},
    "kind": {"enum": ["cat", "dog", "cow"]}}, "required": ["name"]})";
constexpr char kTags[] = R"({"structures": [{"begin": "<n>", "schema": {"type": "number"},
    "end": "</n>"}], "triggers": ["<"]})";

class SimPropertiesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    // Small chunks, so that state jobs take several steps.
    auto engine = MakeSimEngine(ConfigWith({{"op_chunk_bytes", "700"}}));
    ASSERT_TRUE(engine.ok()) << engine.status();
    engine_ = *std::move(engine);
    generation_ = static_cast<SimGeneration*>(engine_->generation());
    limits_.grammars = {*generation_->CreateGrammar(kSchema, {}),
                        *generation_->CreateStructuralGrammar(kTags, {})};
    limits_.biases = {*generation_->CreateLogitBias({1, 2, 60}, {20, -5, 3})};
    StrategySpec spec;
    spec.rng_contract_version = 1;
    spec.strategy_id = "sim.oracle:drafts=6,wrong=30";
    const auto oracle = generation_->RegisterStrategy(spec);
    ASSERT_TRUE(oracle.ok()) << oracle.status();
    limits_.strategies = {StrategySlot{1}, oracle->slot};
    limits_.adapters = {"", WriteFile("one", "1"), WriteFile("other", "2")};
  }

  static std::string WriteFile(const std::string& name, const std::string& bytes) {
    std::string path = ::testing::TempDir() + "/" + name;
    std::ofstream(path) << bytes;
    return path;
  }

  void Run(absl::string_view name, absl::Status (GenerationProperties::*property)(CaseRandom&)) {
    GenerationProperties properties(*generation_, limits_);
    RunProperty(name, kCases, [&](CaseRandom& random) {
      absl::Status status = (properties.*property)(random);
      if (status.ok() && !generation_->CheckInvariants()) {
        status = absl::InternalError("the invariants do not hold");
      }
      return status;
    });
    // Every case frees what it made.
    EXPECT_EQ(generation_->EvictCache(UINT64_MAX, {UINT32_MAX, 0, 0}).status(), absl::OkStatus());
    EXPECT_EQ(generation_->Memory().pool_blocks_used, 0U);
  }

  std::unique_ptr<Engine> engine_;
  SimGeneration* generation_ = nullptr;
  PropertyLimits limits_;
};

TEST_F(SimPropertiesTest, Restored) { Run("restored", &GenerationProperties::RestoredEqualsPlain); }
TEST_F(SimPropertiesTest, Promoted) { Run("promoted", &GenerationProperties::PromotedEqualsPlain); }
TEST_F(SimPropertiesTest, Forked) { Run("forked", &GenerationProperties::ForkedEqualsPlain); }
TEST_F(SimPropertiesTest, Redone) { Run("redone", &GenerationProperties::RedoneEqualsPlain); }
TEST_F(SimPropertiesTest, Adopted) { Run("adopted", &GenerationProperties::AdoptedEqualsPlain); }
TEST_F(SimPropertiesTest, PrefixHit) {
  Run("prefix hit", &GenerationProperties::PrefixHitEqualsPlain);
}
TEST_F(SimPropertiesTest, Verified) { Run("verified", &GenerationProperties::VerifiedEqualsPlain); }
TEST_F(SimPropertiesTest, Strategy) { Run("strategy", &GenerationProperties::StrategyEqualsPlain); }
TEST_F(SimPropertiesTest, Chunked) { Run("chunked", &GenerationProperties::ChunkedEqualsPlain); }
TEST_F(SimPropertiesTest, SplitTicks) {
  Run("split ticks", &GenerationProperties::SplitTicksEqualPlain);
}
TEST_F(SimPropertiesTest, SwappedAdapter) {
  Run("swapped adapter", &GenerationProperties::SwappedAdapterEqualsPlain);
}
TEST_F(SimPropertiesTest, Cancelled) {
  Run("cancelled", &GenerationProperties::CancelledEqualsPlain);
}
TEST_F(SimPropertiesTest, FlippedByte) {
  Run("flipped byte", &GenerationProperties::FlippedByteShows);
}

}  // namespace
}  // namespace superfluid
