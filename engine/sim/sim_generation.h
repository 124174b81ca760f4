#ifndef SUPERFLUID_ENGINE_SIM_SIM_GENERATION_H_
#define SUPERFLUID_ENGINE_SIM_SIM_GENERATION_H_

#include <memory>
#include <vector>

#include "engine/generation/session_generation.h"
#include "engine/sim/sim_token_model.h"

namespace superfluid {

// Token generation of the sim engine, a test double and a demonstration: SessionGeneration over
// SimTokenModel. sim_options.h has what can be set.
class SimGeneration final : public SessionGeneration {
 public:
  SimGeneration(const SimOptions& options, std::shared_ptr<SimClock> clock);

  // Gives wrong results if asked to.
  absl::StatusOr<std::vector<LaneResult>> RunTick(const Tick& tick, const CancelToken& token,
                                                  TickHost& host) override;
  // And that the blocks of the pool are those of sequences and of the cache.
  bool CheckInvariants() const;

 private:
  const SimTokenModel& sim() const { return static_cast<const SimTokenModel&>(model()); }
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_SIM_SIM_GENERATION_H_
