#include "engine/llama/llama_strategy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace superfluid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class LlamaStrategyTest : public ::testing::Test {
 protected:
  LlamaStrategyTest() {
    spec_.strategy_id = "llama.prompt_lookup";
    spec_.rng_contract_version = 1;
  }
  absl::StatusCode Code() { return strategies_.Register(spec_).status().code(); }

  LlamaStrategies strategies_{"llama", 768, 4096};
  StrategySpec spec_;
};

TEST_F(LlamaStrategyTest, DraftsWhatFollowedTheLastTime) {
  const PromptLookup lookup{2, 3};
  EXPECT_THAT(lookup.Draft({1, 2, 3, 4, 5, 1, 2}), ElementsAre(3, 4, 5));
  EXPECT_THAT(lookup.Draft({1, 2, 9, 1, 2, 3, 1, 2}), ElementsAre(3, 1, 2));
  EXPECT_THAT(lookup.Draft({1, 2, 1, 2}), ElementsAre(1, 2));
  EXPECT_THAT(lookup.Draft({1, 2, 3}), IsEmpty());
  EXPECT_THAT(lookup.Draft({}), IsEmpty());
}

TEST_F(LlamaStrategyTest, RegistersWhatItHas) {
  spec_.strategy_id = "llama.prompt_lookup:n=3,drafts=16";
  const auto terms = strategies_.Register(spec_);
  ASSERT_TRUE(terms.ok()) << terms.status();
  EXPECT_EQ((*strategies_.Find(terms->slot))->n, 3U);
  EXPECT_EQ((*strategies_.Find(terms->slot))->drafts, 16U);
  EXPECT_EQ(terms->certificates.size(), 1U);
  EXPECT_EQ(*strategies_.Find(StrategySlot{}), nullptr);
  EXPECT_NE(*strategies_.Find(kPromptLookupSlot), nullptr);
  strategies_.Clear();
  EXPECT_TRUE(absl::IsNotFound(strategies_.Find(terms->slot).status()));
  EXPECT_TRUE(strategies_.Find(kPromptLookupSlot).ok());
}

TEST_F(LlamaStrategyTest, RefusesWhatItHasNot) {
  spec_.strategy_id = "medusa";
  EXPECT_EQ(Code(), absl::StatusCode::kUnimplemented);
  spec_.strategy_id = "llama.prompt_lookup:n=0";
  EXPECT_EQ(Code(), absl::StatusCode::kInvalidArgument);
  spec_.strategy_id = "llama.prompt_lookup";
  spec_.target_archs = {"qwen2"};
  EXPECT_EQ(Code(), absl::StatusCode::kFailedPrecondition);
  spec_.target_archs = {"qwen2", "llama"};
  EXPECT_EQ(Code(), absl::StatusCode::kOk);
  spec_.requirements = {{kRequiresContext, {4096}}, {kRequiresVocab, {768}}};
  EXPECT_EQ(Code(), absl::StatusCode::kOk);
  spec_.requirements = {{kRequiresContext, {4097}}};
  EXPECT_EQ(Code(), absl::StatusCode::kFailedPrecondition);
  spec_.requirements.clear();
  spec_.taps = {{}};
  EXPECT_EQ(Code(), absl::StatusCode::kFailedPrecondition);
  spec_.taps.clear();
  spec_.claimed_exactness = 2;
  EXPECT_EQ(Code(), absl::StatusCode::kFailedPrecondition);
  spec_.claimed_exactness = 1;
  spec_.rng_contract_version = 2;
  EXPECT_EQ(Code(), absl::StatusCode::kFailedPrecondition);
  spec_.rng_contract_version = 1;
  spec_.artifacts = {{}};
  EXPECT_EQ(Code(), absl::StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace superfluid
