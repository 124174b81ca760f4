#ifndef SUPERFLUID_ENGINE_SIM_SIM_WORLD_H_
#define SUPERFLUID_ENGINE_SIM_SIM_WORLD_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "engine/cache/prefix_cache.h"
#include "engine/cache/prefix_leases.h"
#include "engine/call_control.h"
#include "engine/constrain/grammar_book.h"
#include "engine/sampling/logit_biases.h"
#include "engine/sim/sim_adapter.h"
#include "engine/sim/sim_blocks.h"
#include "engine/sim/sim_clock.h"
#include "engine/sim/sim_media.h"
#include "engine/sim/sim_options.h"
#include "engine/sim/sim_sequences.h"
#include "engine/sim/sim_strategy.h"

namespace superfluid {

// Everything that exists in a sim engine that generates tokens. Ticks and state jobs work on it.
// Threads: one. Lifetime: outlives every tick and state job.
struct SimWorld {
  SimWorld(const SimOptions& all_options, std::shared_ptr<SimClock> sim_clock);
  SimWorld(const SimWorld&) = delete;
  SimWorld& operator=(const SimWorld&) = delete;

  PrefixLeases::Moment Now() const { return {clock->Now(), ticks}; }

  // The misbehaviour asked for of a tick or op, in this order: slow, stuck, throw, out of memory,
  // fail. `number`: which tick or op it is.
  struct Faults {
    SimStep slow_at = 0;
    SimStep stuck_at = 0;
    SimStep throw_at = 0;
    SimStep out_of_memory_at = 0;
    SimStep fail_at = 0;
  };
  absl::Status Misbehave(const Faults& faults, uint64_t number);

  // Computes as the options say that a call does. Cancelled: the control's token is set.
  absl::Status Compute(const CallControl& control);

  // Counted over the engine's life.
  uint64_t ticks = 0;
  uint64_t ops = 0;
  uint64_t calls = 0;

  const SimGenerationOptions options;
  const absl::Duration slow;
  const absl::Duration stuck;
  const std::shared_ptr<SimClock> clock;
  HandleSource handles;
  SimBlockPool pool;
  PrefixCache cache;
  PrefixLeases leases;
  SimSequences sequences;
  GrammarBook grammars;
  LogitBiases biases;
  SimMedia media;
  SimAdapter adapter;
  SimStrategies strategies;
};

// InvalidArgument: no such token.
absl::Status CheckSimTokens(const SimWorld& world, absl::Span<const Token> tokens);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_SIM_SIM_WORLD_H_
