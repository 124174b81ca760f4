#ifndef SUPERFLUID_ENGINE_SIM_SIM_DRAWING_H_
#define SUPERFLUID_ENGINE_SIM_SIM_DRAWING_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/constrain/vocabulary.h"
#include "engine/sampling/sampler.h"
#include "engine/sim/sim_model.h"

namespace superfluid {

// The token that ends a text under a grammar. It may come where the text is complete; drawing it
// finishes the lane as a stop token does, and nothing but it may follow.
inline constexpr Token kSimEndOfText = 0;

// Returns what the tokens are in bytes: the first 256 are bytes, but for kSimEndOfText; others are
// no text.
TokenTexts SimTokenTexts();

// How a lane draws. Pointers are not owned; null bias: none.
struct SimDrawRules {
  uint32_t vocab = 0;
  uint64_t adapter = 0;  // fingerprint
  SamplingParams sampling;
  const LogitBias* bias = nullptr;
};

// Returns the token that follows `history`, whose state `point` is. `filter`: the grammar behind
// what it has read so far; null: there is none. InvalidArgument: no token is left.
absl::StatusOr<Token> DrawNext(const SimDrawRules& rules, const SimPoint& point,
                               absl::Span<const Token> history, TokenFilter* filter);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_SIM_SIM_DRAWING_H_
