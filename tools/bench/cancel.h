#ifndef SUPERFLUID_TOOLS_BENCH_CANCEL_H_
#define SUPERFLUID_TOOLS_BENCH_CANCEL_H_

#include "absl/status/status.h"
#include "tools/bench/effort.h"
#include "tools/bench/report.h"

namespace superfluid::bench {

// Adds how long it takes from setting all cancels and stop bits until the last of 64 ticks and 256
// transcriptions has its final answer, so that the engine is idle: in steps of the engine.
absl::Status MeasureCancels(const Effort& effort, Report& report);

}  // namespace superfluid::bench

#endif  // SUPERFLUID_TOOLS_BENCH_CANCEL_H_
