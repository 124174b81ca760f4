#ifndef SUPERFLUID_ENGINE_SIM_SIM_STRATEGY_H_
#define SUPERFLUID_ENGINE_SIM_SIM_STRATEGY_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/constrain/lane_constraint.h"
#include "engine/sampling/strategy_check.h"
#include "engine/sim/sim_drawing.h"
#include "engine/sim/sim_stage.h"
#include "engine/strategy.h"

namespace superfluid {

inline constexpr StrategySlot kSimNgramSlot{1};
inline constexpr uint64_t kSimKernelCaps = 0xF;
inline constexpr size_t kSimMaxStrategies = 64;
inline constexpr uint64_t kSimMaxStrategyBytes = uint64_t{1} << 30U;
// How tokens are drafted. Drafts change how fast tokens are drawn, never which.
struct SimDrafter {
  bool oracle = false;  // draws ahead by itself; otherwise looks up the last n-gram
  uint32_t n = 2;       // "n", [1, 16]
  uint32_t drafts = 4;  // "drafts": at a time, [1, 64]
  uint32_t wrong = 25;  // "wrong": so many of 100 are made wrong on purpose, [0, 100]
  uint64_t salt = 0;    // decides which
};

// Where a draft starts. `history` has at least one token.
struct SimDraftPoint {
  const SimDrawRules* rules = nullptr;
  SimPoint point;
  absl::Span<const Token> history;
  const LaneConstraint* constraint = nullptr;  // null: no grammar
};
std::vector<Token> DraftTokens(const SimDrafter& drafter, const SimDraftPoint& from);

// The strategies that exist: "sim.ngram" in slot 1, and those registered. Threads: one.
class SimStrategies {
 public:
  SimStrategies(uint32_t vocab, uint64_t context)
      : offer_{.engine = "sim",
               .architecture = "sim",
               .context_tokens = context,
               .vocab_size = vocab,
               .kernel_caps = kSimKernelCaps,
               .tap_layers = kSimLayers} {}

  static std::vector<BuiltInStrategy> BuiltIns();

  // Ids are "sim.ngram" and "sim.oracle", followed by options or not:
  // "sim.oracle:drafts=8,wrong=5". The certificate says exactness 1: the same tokens as without.
  //
  // Errors: Unimplemented (another id), InvalidArgument (a bad option), those of
  // CheckStrategyRequirements (the architecture is "sim", kernel capabilities kSimKernelCaps),
  // NotFound (an artifact that cannot be read), ResourceExhausted.
  absl::StatusOr<StrategyTerms> Register(const StrategySpec& spec);

  // Null for slot 0; NotFound.
  absl::StatusOr<const SimDrafter*> Find(StrategySlot slot) const;
  void Clear();  // built-in ones stay

 private:
  const StrategyOffer offer_;
  const SimDrafter ngram_;
  std::map<StrategySlot, SimDrafter> registered_;
  uint32_t last_slot_ = static_cast<uint32_t>(kSimNgramSlot);
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_SIM_SIM_STRATEGY_H_
