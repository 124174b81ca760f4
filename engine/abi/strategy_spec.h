#ifndef SUPERFLUID_ENGINE_ABI_STRATEGY_SPEC_H_
#define SUPERFLUID_ENGINE_ABI_STRATEGY_SPEC_H_

#include <vector>

#include "engine/abi/superfluid_engine.h"
#include "engine/strategy.h"

namespace superfluid {

// A strategy as the C interface wants it. Refers to `spec`, which must outlive it. Threads: one at
// a time.
class AbiStrategy {
 public:
  explicit AbiStrategy(const StrategySpec& spec);
  AbiStrategy(const AbiStrategy&) = delete;
  AbiStrategy& operator=(const AbiStrategy&) = delete;

  const sfl_strategy* get() const { return &strategy_; }

 private:
  std::vector<sfl_strategy_artifact> artifacts_;
  std::vector<sfl_strategy_tap> taps_;
  std::vector<sfl_strategy_requirement> requirements_;
  std::vector<sfl_string> target_archs_;
  sfl_strategy strategy_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_ABI_STRATEGY_SPEC_H_
