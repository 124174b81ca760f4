#ifndef SUPERFLUID_ENGINE_SIM_SIM_ENGINE_H_
#define SUPERFLUID_ENGINE_SIM_SIM_ENGINE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "engine/engine.h"
#include "engine/sim/sim_clock.h"

namespace superfluid {

// An engine without a model, for tests and benchmarks: the same audio gives the same segments,
// whose words are a function of the samples they cover, so that a test sees whose audio it was; and
// the next token of a sequence is a function of every byte of its state, so that a test sees a
// wrong one (sim_generation.h). It takes as long as it is told to and fails in the ways it is told
// to; sim_options.h has the list.
//
// `config.model_path` is ignored. Errors: InvalidArgument (an unknown option, a value out of
// range). Threads and lifetimes: those of Engine.
absl::StatusOr<std::unique_ptr<Engine>> MakeSimEngine(const EngineConfig& config);

// The same with another clock; `clock` null means real time, as the option `work` says.
absl::StatusOr<std::unique_ptr<Engine>> MakeSimEngine(const EngineConfig& config,
                                                      std::shared_ptr<SimClock> clock);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_SIM_SIM_ENGINE_H_
