#ifndef SUPERFLUID_ENGINE_SIM_SIM_SAMPLER_H_
#define SUPERFLUID_ENGINE_SIM_SIM_SAMPLER_H_

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/tick.h"

namespace superfluid {

using SimBias = std::map<Token, float>;  // added to the logits
using SimByteSet = std::bitset<256>;

// What a draw depends on besides the logits.
struct SimDraw {
  const SamplingParams* params = nullptr;
  const SimBias* bias = nullptr;        // null: none
  const SimByteSet* allowed = nullptr;  // null: all; otherwise the tokens (below 256) that may come
  absl::Span<const Token> history;      // all tokens of the sequence
};

// InvalidArgument: not finite, negative, top_p or min_p above 1.
absl::Status CheckSampling(const SamplingParams& params);

// Draws the token that follows `history`, in this order: logit bias; repetition penalty (a token
// that occurs in the history: a logit above 0 is divided by it, another multiplied); the allowed
// set; then, for a temperature of 0, the most likely token, the lowest id among equals; otherwise
// temperature, top_k, top_p, min_p, each over what the one before left, probabilities being
// renormalised once at the end; and the first token at which the cumulated probability, most likely
// token first (the lower id among equals), exceeds SimUniform(seed, history.size()).
//
// InvalidArgument: no token is left. `logits` are changed.
absl::StatusOr<Token> DrawSimToken(absl::Span<float> logits, const SimDraw& draw);

// The `count` most likely tokens, most likely first, the lower id among equals.
std::vector<TokenLogit> TopLogits(absl::Span<const float> logits, size_t count);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_SIM_SIM_SAMPLER_H_
