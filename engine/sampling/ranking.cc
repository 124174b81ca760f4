#include "engine/sampling/ranking.h"

#include <algorithm>
#include <limits>

namespace superfluid {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();
constexpr size_t kGrowth = 8;

bool MoreLikely(const TokenLogit& left, const TokenLogit& right) {
  return left.logit != right.logit ? left.logit > right.logit : left.token < right.token;
}

}  // namespace

Ranking::Ranking(absl::Span<const float> logits) {
  tokens_.reserve(logits.size());
  for (size_t i = 0; i < logits.size(); ++i) {
    if (logits[i] > kNever) tokens_.push_back({static_cast<Token>(i), logits[i]});
  }
}

Ranking::Ranking(absl::Span<const float> logits, TokenFilter& filter) {
  filter.Gather(logits, tokens_);
}

Ranking Ranking::OneByOne(absl::Span<const float> logits, TokenFilter& filter) {
  Ranking ranking(logits);
  ranking.tested_by_ = &filter;
  return ranking;
}

// Brings the next chunk into order and drops from it what may not come.
void Ranking::SortMore() {
  const auto begin = tokens_.begin() + static_cast<ptrdiff_t>(next_);
  const size_t count = std::min(chunk_, tokens_.size() - next_);
  const auto end = begin + static_cast<ptrdiff_t>(count);
  if (end != tokens_.end()) std::nth_element(begin, end, tokens_.end(), &MoreLikely);
  std::sort(begin, end, &MoreLikely);
  for (size_t i = next_; i < next_ + count; ++i) {
    const bool may_come = tested_by_ == nullptr || tested_by_->Allows(tokens_[i].token);
    if (may_come) tokens_[ranked_++] = tokens_[i];
  }
  next_ += count;
  chunk_ *= kGrowth;
}

const TokenLogit* Ranking::At(size_t rank) {
  while (rank >= ranked_ && next_ < tokens_.size()) SortMore();
  return rank < ranked_ ? &tokens_[rank] : nullptr;
}

}  // namespace superfluid
