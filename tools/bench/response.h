#ifndef SUPERFLUID_TOOLS_BENCH_RESPONSE_H_
#define SUPERFLUID_TOOLS_BENCH_RESPONSE_H_

#include "absl/status/status.h"
#include "tools/bench/effort.h"
#include "tools/bench/report.h"

namespace superfluid::bench {

// Adds how the worker answers while it is busy: PING during long steps of the engine, PING of an
// observer while large frames are sent as well, and how long a cancel takes until the engine is
// idle.
absl::Status MeasureResponse(const Effort& effort, Report& report);

}  // namespace superfluid::bench

#endif  // SUPERFLUID_TOOLS_BENCH_RESPONSE_H_
