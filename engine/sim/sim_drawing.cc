#include "engine/sim/sim_drawing.h"

#include <limits>
#include <vector>

namespace superfluid {

void SimByteFilter::Filter(absl::Span<TokenLogit> candidates) {
  for (TokenLogit& candidate : candidates) {
    if (candidate.token < allowed_.size() && allowed_[candidate.token]) continue;
    candidate.logit = -std::numeric_limits<float>::infinity();
  }
}

absl::StatusOr<Token> DrawNext(const SimDrawRules& rules, const SimPoint& point,
                               absl::Span<const Token> history, const SimMatcher* matcher) {
  std::vector<float> logits(rules.vocab);
  SimLogits(point, rules.adapter, absl::MakeSpan(logits));
  Draw draw;
  draw.params = &rules.sampling;
  draw.bias = rules.bias;
  draw.history = history;
  if (matcher == nullptr) return DrawToken(absl::MakeSpan(logits), draw);
  SimByteFilter filter(matcher->Allowed());
  draw.filter = &filter;
  return DrawToken(absl::MakeSpan(logits), draw);
}

}  // namespace superfluid
