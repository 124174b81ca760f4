#ifndef SUPERFLUID_ENGINE_CONSTRAIN_LANE_CONSTRAINT_H_
#define SUPERFLUID_ENGINE_CONSTRAIN_LANE_CONSTRAINT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "engine/constrain/stacks.h"
#include "engine/constrain/token_masks.h"
#include "engine/constrain/vocabulary.h"
#include "engine/sampling/sampler.h"

namespace superfluid {

// How much work new masks may be in one tick, for all lanes: nodes of the trie looked at. A draw
// that takes the most likely tokens only tests these instead of making a mask once the budget is
// spent; which token is drawn is the same. Threads: one.
class MaskBudget {
 public:
  static constexpr uint64_t kStepsOfTick = uint64_t{2} << 20U;  // 5 to 10 ms

  void BeginTick() { left_ = kStepsOfTick; }
  bool Spent() const { return left_ == 0; }
  void Spend(uint64_t steps) { left_ -= std::min(left_, steps); }

 private:
  uint64_t left_ = kStepsOfTick;
};

// A compiled grammar over a model's tokens, with the masks that its lanes have come by. Threads:
// one. Lifetime: the vocabulary and the budget outlive it; lanes keep it alive.
class TokenGrammar {
 public:
  // `spelled`: a text; tokens that are no text may come if their name occurs in it.
  TokenGrammar(std::shared_ptr<const Grammar> grammar, Vocabulary& vocabulary, MaskBudget& budget,
               absl::string_view spelled);
  TokenGrammar(const TokenGrammar&) = delete;
  TokenGrammar& operator=(const TokenGrammar&) = delete;

  const std::shared_ptr<const Grammar>& grammar() const { return grammar_; }
  Vocabulary& vocabulary() { return vocabulary_; }
  TokenMasks& masks() { return masks_; }
  MaskBudget& budget() { return budget_; }
  // Returns whether a token is no text, but meant by its name.
  bool Spells(Token token) const;
  size_t bytes() const { return grammar_->bytes + masks_.bytes(); }

 private:
  static std::vector<Token> FindSpelled(const Vocabulary& vocabulary, absl::string_view spelled);

  const std::shared_ptr<const Grammar> grammar_;
  Vocabulary& vocabulary_;
  MaskBudget& budget_;
  const std::vector<Token> spelled_;
  TokenMasks masks_;
};

// Where a lane's text stands under its grammar, and which tokens may follow. A copy is independent,
// and cheap: that is how drafts are read ahead and given up. Threads: one.
//
// Invariants:
//  1. Accept takes exactly the tokens that Gather gives.
//  2. Behind a token that ends the text only such tokens may come.
class LaneConstraint final : public TokenFilter {
 public:
  // At the beginning of the text.
  explicit LaneConstraint(std::shared_ptr<TokenGrammar> grammar);
  LaneConstraint(const LaneConstraint&) = default;
  LaneConstraint(LaneConstraint&&) = default;
  LaneConstraint& operator=(const LaneConstraint&) = default;
  LaneConstraint& operator=(LaneConstraint&&) = default;

  // Reads a token. False: no text continues so; nothing was read then.
  bool Accept(Token token);
  // Returns whether the text may end here.
  bool CanEnd() const { return ended_ || stacks_.CanEnd(); }
  const TokenGrammar& grammar() const { return *grammar_; }
  size_t bytes() const { return sizeof(*this) + stacks_.bytes(); }

  bool IsCheap() const override;
  void Gather(absl::Span<const float> logits, std::vector<TokenLogit>& out) override;
  bool Allows(Token token) override;

  // Returns the tokens that may follow, as bits; as walking every token gives them, if
  // `method` says so. For tests and figures.
  enum class Method : uint8_t { kMasks, kWalk };
  TokenBits Allowed(Method method);

 private:
  void FindMasks();
  void SetEnds(TokenBits& bits) const;

  std::shared_ptr<TokenGrammar> grammar_;
  Stacks stacks_;
  std::vector<const TokenMask*> found_;  // of the last FindMasks; valid until the next one of any
  bool ended_ = false;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_CONSTRAIN_LANE_CONSTRAINT_H_
