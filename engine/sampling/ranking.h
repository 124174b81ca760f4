#ifndef SUPERFLUID_ENGINE_SAMPLING_RANKING_H_
#define SUPERFLUID_ENGINE_SAMPLING_RANKING_H_

#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "engine/sampling/sampler.h"
#include "engine/tick.h"

namespace superfluid {

// Tokens from the most likely down (the lower id among equals), sorted only as far as they are
// asked for. Tokens that cannot come (-infinity, not a number) are left out. Lifetime: within one
// draw.
class Ranking {
 public:
  // Of all tokens.
  explicit Ranking(absl::Span<const float> logits);
  // Of those that `filter` gathers.
  Ranking(absl::Span<const float> logits, TokenFilter& filter);
  // Of those that `filter` allows, asked for one by one as ranks are asked for. All must not be
  // called.
  static Ranking OneByOne(absl::Span<const float> logits, TokenFilter& filter);

  // Returns the token of this rank; null if there are not as many. Ranks are asked for in order.
  // Valid until the next call.
  const TokenLogit* At(size_t rank);
  // Returns every token that can come, in no order but for the ranks asked for already.
  absl::Span<const TokenLogit> All() const { return tokens_; }

 private:
  void SortMore();

  TokenFilter* tested_by_ = nullptr;  // null: none
  // Those in order, which may come; those that were tested and may not (none if tested_by_ is
  // null); the rest.
  std::vector<TokenLogit> tokens_;
  size_t ranked_ = 0;  // as many are in order
  size_t next_ = 0;    // where those begin that were not looked at
  size_t chunk_ = 1;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_SAMPLING_RANKING_H_
