#ifndef SUPERFLUID_ENGINE_SAMPLING_SAMPLER_H_
#define SUPERFLUID_ENGINE_SAMPLING_SAMPLER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/tick.h"

namespace superfluid {

using LogitBias = std::map<Token, float>;  // added to the logits

// The tokens that may be drawn. Threads: the draw's.
class TokenFilter {
 public:
  TokenFilter() = default;
  virtual ~TokenFilter() = default;

  // Returns whether Gather costs no more than a look at what it gives.
  virtual bool IsCheap() const = 0;
  // Appends each token that may be drawn and whose logit is above -infinity, once, in any order.
  virtual void Gather(absl::Span<const float> logits, std::vector<TokenLogit>& out) = 0;
  // Returns whether a token may be drawn: exactly those of Gather.
  virtual bool Allows(Token token) = 0;

 protected:
  TokenFilter(const TokenFilter&) = default;
  TokenFilter(TokenFilter&&) = default;
  TokenFilter& operator=(const TokenFilter&) = default;
  TokenFilter& operator=(TokenFilter&&) = default;
};

// What a draw depends on besides the logits. Pointers are not owned.
struct Draw {
  const SamplingParams* params = nullptr;
  const LogitBias* bias = nullptr;  // null: none
  TokenFilter* filter = nullptr;    // null: every token may come
  absl::Span<const Token> history;  // all tokens of the sequence
};

// The random stream: a number in [0, 1) for the draw at `position`, of
// Mix(Mix(seed + 1), position) the upper 53 bits.
double DrawUniform(uint64_t seed, uint64_t position);

// InvalidArgument: not finite, negative, top_p or min_p above 1.
absl::Status CheckSampling(const SamplingParams& params);

// Draws the token that follows `history`, in this order: logit bias; repetition penalty (a token
// that occurs in the history: a logit above 0 is divided by it, another multiplied); the filter;
// then, for a temperature of 0, the most likely token, the lowest id among equals; otherwise
// temperature, top_k, top_p, min_p, each over what the one before left, probabilities being
// renormalised once at the end; and the first token at which the cumulated probability, most likely
// token first (the lower id among equals), exceeds DrawUniform(seed, history.size()).
//
// A logit that is not a number counts as -infinity. Under a filter, candidates are gathered from
// the tokens that may come, so a narrow one makes a draw cheaper; where that is not cheap and the
// draw needs the most likely ones only (temperature 0, top_k), these are tested one by one instead.
// Only as many tokens are sorted as the draw needs.
//
// InvalidArgument: no token is left. `logits` are changed.
absl::StatusOr<Token> DrawToken(absl::Span<float> logits, const Draw& draw);

// The `count` most likely tokens, most likely first, the lower id among equals.
std::vector<TokenLogit> TopLogits(absl::Span<const float> logits, size_t count);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_SAMPLING_SAMPLER_H_
