#ifndef SUPERFLUID_TOOLS_BENCH_NULL_ENGINE_H_
#define SUPERFLUID_TOOLS_BENCH_NULL_ENGINE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "engine/engine.h"

namespace superfluid::bench {

// An engine that costs nothing: each lane that draws gets token 1, max_tokens times, and of a
// sequence it knows the length. What a tick then takes is the host's. It has ticks of up to 256
// lanes and nothing else.
absl::StatusOr<std::unique_ptr<Engine>> MakeNullEngine(const EngineConfig& config);

}  // namespace superfluid::bench

#endif  // SUPERFLUID_TOOLS_BENCH_NULL_ENGINE_H_
