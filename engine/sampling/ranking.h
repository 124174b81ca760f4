#ifndef SUPERFLUID_ENGINE_SAMPLING_RANKING_H_
#define SUPERFLUID_ENGINE_SAMPLING_RANKING_H_

#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "engine/sampling/sampler.h"
#include "engine/tick.h"

namespace superfluid {

// Tokens from the most likely down (the lower id among equals), sorted only as far as they are
// asked for. Tokens that cannot come (-infinity, not a number, refused by the filter) are left out.
// Lifetime: within one draw.
class Ranking {
 public:
  // `filter`: null for none.
  Ranking(absl::Span<const float> logits, TokenFilter* filter);

  // The token of this rank; null if there are not as many. Ranks are asked for in order. Valid
  // until the next call.
  const TokenLogit* At(size_t rank);
  // Every token that can come, in no order but for the ranks asked for already.
  absl::Span<const TokenLogit> All();

 private:
  void SortMore();
  void FilterRest();

  TokenFilter* filter_;
  std::vector<TokenLogit>
      tokens_;         // ranked_, then those sorted and not filtered yet, then the rest
  size_t ranked_ = 0;  // as many are in order, and may come
  size_t next_ = 0;    // where those begin that were not looked at
  size_t chunk_ = 1;
  bool filtered_ = false;  // all of them
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_SAMPLING_RANKING_H_
