#include "engine/sim/sim_drawing.h"

#include <vector>

namespace superfluid {

absl::StatusOr<Token> DrawNext(const SimDrawRules& rules, const SimPoint& point,
                               absl::Span<const Token> history, const SimMatcher* matcher) {
  std::vector<float> logits(rules.vocab);
  SimLogits(point, rules.adapter, absl::MakeSpan(logits));
  SimDraw draw;
  draw.params = &rules.sampling;
  draw.bias = rules.bias;
  draw.history = history;
  SimByteSet allowed;
  if (matcher != nullptr) {
    allowed = matcher->Allowed();
    draw.allowed = &allowed;
  }
  return DrawSimToken(absl::MakeSpan(logits), draw);
}

}  // namespace superfluid
