#include "engine/sim/sim_drawing.h"

#include <string>
#include <vector>

namespace superfluid {

TokenTexts SimTokenTexts() {
  TokenTexts tokens;
  for (int byte = 0; byte < 256; ++byte) tokens.texts.emplace_back(1, static_cast<char>(byte));
  tokens.ends = {kSimEndOfText};
  return tokens;
}

absl::StatusOr<Token> DrawNext(const SimDrawRules& rules, const SimPoint& point,
                               absl::Span<const Token> history, TokenFilter* filter) {
  std::vector<float> logits(rules.vocab);
  SimLogits(point, rules.adapter, absl::MakeSpan(logits));
  Draw draw;
  draw.params = &rules.sampling;
  draw.bias = rules.bias;
  draw.history = history;
  draw.filter = filter;
  return DrawToken(absl::MakeSpan(logits), draw);
}

}  // namespace superfluid
