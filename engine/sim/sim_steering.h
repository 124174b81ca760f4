#ifndef SUPERFLUID_ENGINE_SIM_SIM_STEERING_H_
#define SUPERFLUID_ENGINE_SIM_SIM_STEERING_H_

#include <cstddef>
#include <map>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/handles.h"
#include "engine/sim/sim_grammar.h"
#include "engine/sim/sim_sampler.h"
#include "engine/sim/sim_sequences.h"

namespace superfluid {

inline constexpr size_t kSimMaxGrammars = 1024;
inline constexpr size_t kSimMaxBiases = 1024;

// The grammars and logit biases that exist. Threads: one.
class SimSteering {
 public:
  SimSteering(SimHandles& handles, uint32_t vocab) : handles_(handles), vocab_(vocab) {}

  // ResourceExhausted: kSimMaxGrammars exist.
  absl::StatusOr<GrammarHandle> AddGrammar(SimGrammar grammar);
  absl::Status FreeGrammar(GrammarHandle handle);  // NotFound
  // Null for handle 0; NotFound.
  absl::StatusOr<const SimGrammar*> Grammar(GrammarHandle handle) const;

  // InvalidArgument: not as many values as tokens, a token twice or outside the vocabulary, a
  // value that is no number or +infinity (-infinity forbids the token). ResourceExhausted.
  absl::StatusOr<LogitBiasHandle> AddBias(absl::Span<const Token> tokens,
                                          absl::Span<const float> values);
  absl::Status FreeBias(LogitBiasHandle handle);  // NotFound
  absl::StatusOr<const SimBias*> Bias(LogitBiasHandle handle) const;

  void Clear();

 private:
  SimHandles& handles_;
  const uint32_t vocab_;
  std::map<GrammarHandle, SimGrammar> grammars_;
  std::map<LogitBiasHandle, SimBias> biases_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_SIM_SIM_STEERING_H_
