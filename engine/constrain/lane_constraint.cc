#include "engine/constrain/lane_constraint.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "absl/strings/match.h"

namespace superfluid {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

// Appends the tokens of which bits are set and that can come.
void GatherBits(const TokenBits& bits, absl::Span<const float> logits,
                std::vector<TokenLogit>& out) {
  for (size_t i = 0; i < bits.size(); ++i) {
    for (uint64_t word = bits[i]; word != 0; word &= word - 1) {
      const size_t token = i * 64 + static_cast<size_t>(std::countr_zero(word));
      if (token >= logits.size()) return;
      if (logits[token] > kNever) out.push_back({static_cast<Token>(token), logits[token]});
    }
  }
}

void GatherList(absl::Span<const Token> list, absl::Span<const float> logits,
                std::vector<TokenLogit>& out) {
  for (const Token token : list) {
    if (token >= logits.size() || !(logits[token] > kNever)) continue;
    out.push_back({token, logits[token]});
  }
}

}  // namespace

TokenGrammar::TokenGrammar(std::shared_ptr<const Grammar> grammar, Vocabulary& vocabulary,
                           MaskBudget& budget, absl::string_view spelled)
    : grammar_(std::move(grammar)),
      vocabulary_(vocabulary),
      budget_(budget),
      spelled_(FindSpelled(vocabulary, spelled)),
      masks_(vocabulary, spelled_) {}

std::vector<Token> TokenGrammar::FindSpelled(const Vocabulary& vocabulary,
                                             absl::string_view spelled) {
  std::vector<Token> found;
  for (const auto& [token, name] : vocabulary.named()) {
    if (absl::StrContains(spelled, name)) found.push_back(token);
  }
  return found;
}

bool TokenGrammar::Spells(Token token) const {
  return std::binary_search(spelled_.begin(), spelled_.end(), token);
}

LaneConstraint::LaneConstraint(std::shared_ptr<TokenGrammar> grammar)
    : grammar_(std::move(grammar)), stacks_(grammar_->grammar()) {}

bool LaneConstraint::Accept(Token token) {
  const Vocabulary& vocabulary = grammar_->vocabulary();
  if (vocabulary.Ends(token)) {
    ended_ = CanEnd();
    return ended_;
  }
  const absl::string_view text =
      grammar_->Spells(token) ? vocabulary.NameOf(token) : vocabulary.Bytes(token);
  return !ended_ && !text.empty() && stacks_.Read(text);
}

bool LaneConstraint::Allows(Token token) {
  LaneConstraint trial = *this;
  return trial.Accept(token);
}

bool LaneConstraint::IsCheap() const {
  if (ended_ || !grammar_->budget().Spent()) return true;
  const auto tops = stacks_.tops();
  return std::all_of(tops.begin(), tops.end(), [this](uint32_t top) {
    return grammar_->masks().Find(stacks_, top) != nullptr;
  });
}

void LaneConstraint::FindMasks() {
  TokenMasks& masks = grammar_->masks();
  masks.MakeRoom();
  found_.clear();
  for (const uint32_t top : stacks_.tops()) {
    const TokenMask* mask = masks.Find(stacks_, top);
    if (mask == nullptr) {
      const uint64_t before = masks.steps();
      mask = &masks.Make(stacks_, top);
      grammar_->budget().Spend(masks.steps() - before);
    }
    found_.push_back(mask);
  }
}

void LaneConstraint::Gather(absl::Span<const float> logits, std::vector<TokenLogit>& out) {
  bool ends = ended_;
  if (!ended_) {
    FindMasks();
    for (const TokenMask* mask : found_) ends = ends || mask->ends;
    if (found_.size() == 1) {
      const TokenMask& mask = *found_[0];
      GatherBits(mask.base != nullptr ? *mask.base : mask.bits, logits, out);
      GatherList(mask.list, logits, out);
    } else {
      GatherBits(Allowed(Method::kMasks), logits, out);
      return;
    }
  }
  if (ends) GatherList(grammar_->vocabulary().ends(), logits, out);
}

void LaneConstraint::SetEnds(TokenBits& bits) const {
  for (const Token token : grammar_->vocabulary().ends()) {
    if (token < grammar_->vocabulary().size()) bits[token / 64] |= uint64_t{1} << (token % 64);
  }
}

TokenBits LaneConstraint::Allowed(Method method) {
  TokenBits all(grammar_->vocabulary().words());
  const auto add = [&all](const TokenBits& bits) {
    for (size_t i = 0; i < bits.size(); ++i) all[i] |= bits[i];
  };
  if (CanEnd()) SetEnds(all);
  if (ended_) return all;
  if (method == Method::kWalk) {
    for (const uint32_t top : stacks_.tops()) add(grammar_->masks().WalkAll(stacks_, top));
    return all;
  }
  FindMasks();
  for (const TokenMask* mask : found_) {
    if (mask->base != nullptr) add(*mask->base);
    add(mask->bits);
    for (const Token token : mask->list) all[token / 64] |= uint64_t{1} << (token % 64);
    if (mask->ends) SetEnds(all);
  }
  return all;
}

}  // namespace superfluid
