#ifndef SUPERFLUID_TOOLS_BENCH_UPKEEP_H_
#define SUPERFLUID_TOOLS_BENCH_UPKEEP_H_

#include "absl/status/status.h"
#include "tools/bench/effort.h"
#include "tools/bench/report.h"

namespace superfluid::bench {

// Adds what the worker's process uses: CPU and sleeps a tick, threads with many observers, CPU
// while nothing happens, memory and threads after many requests with deadlines.
absl::Status MeasureUpkeep(const Effort& effort, Report& report);

}  // namespace superfluid::bench

#endif  // SUPERFLUID_TOOLS_BENCH_UPKEEP_H_
