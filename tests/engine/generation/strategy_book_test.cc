#include "engine/generation/strategy_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace superfluid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A history without state.
class PlainSequence final : public SessionSequence {
 public:
  PlainSequence() : SessionSequence({}) {}
  uint64_t computed() const override { return length(); }
  absl::StatusOr<std::unique_ptr<SessionSequence>> Fork() const override {
    return std::make_unique<PlainSequence>();
  }
  absl::Status Append(absl::Span<const Token> tokens, bool drawn) override {
    AppendHistory(tokens, drawn);
    return absl::OkStatus();
  }
  absl::Status UseCached(absl::Span<const CachedBlockRef> /*blocks*/,
                         absl::Span<const Token> /*tokens*/) override {
    return absl::OkStatus();
  }
  void RollBack() override { CutHistory(mark()); }
  absl::StatusOr<uint64_t> Boundary(SpaceId /*space*/, uint64_t cap) const override { return cap; }
  absl::Status CheckExport(SpaceId space, TokenRange range) const override {
    return CheckRange(space, range);
  }

 protected:
  absl::Status CutSpace(SpaceId /*space*/, uint64_t new_len) override {
    CutHistory(new_len);
    return absl::OkStatus();
  }
};

class StrategyBookTest : public ::testing::Test {
 protected:
  StrategyBookTest() {
    spec_.strategy_id = "llama.prompt_lookup";
    spec_.rng_contract_version = 1;
  }
  absl::StatusCode Code() { return strategies_.Register(spec_).status().code(); }

  StrategyBook strategies_{
      {.engine = "llama", .architecture = "llama", .context_tokens = 4096, .vocab_size = 768},
      "llama.prompt_lookup",
      [](const StrategyId& id) -> absl::StatusOr<std::unique_ptr<Drafter>> {
        if (id.name == "llama.prompt_lookup") return MakePromptLookup(id, 2, 8);
        return NoSuchStrategy(id.name, "llama.prompt_lookup");
      }};
  StrategySpec spec_;
};

TEST_F(StrategyBookTest, DraftsWhatFollowedTheLastTime) {
  const auto draft = [](const std::vector<Token>& history) {
    PlainSequence sequence;
    EXPECT_TRUE(sequence.Append(history, /*drawn=*/false).ok());
    return PromptLookup(2, 3).Draft({&sequence, nullptr, nullptr, nullptr});
  };
  EXPECT_THAT(draft({1, 2, 3, 4, 5, 1, 2}), ElementsAre(3, 4, 5));
  EXPECT_THAT(draft({1, 2, 9, 1, 2, 3, 1, 2}), ElementsAre(3, 1, 2));
  EXPECT_THAT(draft({1, 2, 1, 2}), ElementsAre(1, 2));
  EXPECT_THAT(draft({1, 2, 3}), IsEmpty());
  EXPECT_THAT(draft({}), IsEmpty());
}

TEST_F(StrategyBookTest, RegistersWhatItHas) {
  spec_.strategy_id = "llama.prompt_lookup:n=3,drafts=16";
  const auto terms = strategies_.Register(spec_);
  ASSERT_TRUE(terms.ok()) << terms.status();
  const auto& lookup = static_cast<const PromptLookup&>(**strategies_.Find(terms->slot));
  EXPECT_EQ(lookup.n, 3U);
  EXPECT_EQ(lookup.drafts, 16U);
  EXPECT_EQ(terms->certificates.size(), 1U);
  EXPECT_EQ(*strategies_.Find(StrategySlot{}), nullptr);
  EXPECT_NE(*strategies_.Find(kBuiltInSlot), nullptr);
  strategies_.Clear();
  EXPECT_TRUE(absl::IsNotFound(strategies_.Find(terms->slot).status()));
  EXPECT_TRUE(strategies_.Find(kBuiltInSlot).ok());
}

TEST_F(StrategyBookTest, RefusesWhatItHasNot) {
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
