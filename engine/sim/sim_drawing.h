#ifndef SUPERFLUID_ENGINE_SIM_SIM_DRAWING_H_
#define SUPERFLUID_ENGINE_SIM_SIM_DRAWING_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/sampling/sampler.h"
#include "engine/sim/sim_grammar.h"
#include "engine/sim/sim_model.h"

namespace superfluid {

// How a lane draws. Pointers are not owned; null bias: none.
struct SimDrawRules {
  uint32_t vocab = 0;
  uint64_t adapter = 0;  // fingerprint
  SamplingParams sampling;
  const LogitBias* bias = nullptr;
};

// Lets the tokens of a set of bytes pass.
class SimByteFilter : public TokenFilter {
 public:
  explicit SimByteFilter(const SimByteSet& allowed) : allowed_(allowed) {}
  void Filter(absl::Span<TokenLogit> candidates) override;

 private:
  const SimByteSet allowed_;
};

// The token that follows `history`, whose state `point` is. `matcher`: what the grammar has read so
// far; null: no grammar. InvalidArgument: no token is left.
absl::StatusOr<Token> DrawNext(const SimDrawRules& rules, const SimPoint& point,
                               absl::Span<const Token> history, const SimMatcher* matcher);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_SIM_SIM_DRAWING_H_
