#ifndef SUPERFLUID_ENGINE_SIM_SIM_STEERING_H_
#define SUPERFLUID_ENGINE_SIM_SIM_STEERING_H_

#include <cstddef>
#include <map>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/handles.h"
#include "engine/sampling/handle_source.h"
#include "engine/sampling/logit_biases.h"
#include "engine/sim/sim_grammar.h"

namespace superfluid {

inline constexpr size_t kSimMaxGrammars = 1024;

// The grammars and logit biases that exist. Threads: one.
class SimSteering {
 public:
  SimSteering(HandleSource& handles, uint32_t vocab) : handles_(handles), biases_(handles, vocab) {}

  // ResourceExhausted: kSimMaxGrammars exist.
  absl::StatusOr<GrammarHandle> AddGrammar(SimGrammar grammar);
  absl::Status FreeGrammar(GrammarHandle handle);  // NotFound
  // Null for handle 0; NotFound.
  absl::StatusOr<const SimGrammar*> Grammar(GrammarHandle handle) const;

  LogitBiases& biases() { return biases_; }

  void Clear();

 private:
  HandleSource& handles_;
  std::map<GrammarHandle, SimGrammar> grammars_;
  LogitBiases biases_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_SIM_SIM_STEERING_H_
