#ifndef SUPERFLUID_TOOLS_BENCH_RACE_H_
#define SUPERFLUID_TOOLS_BENCH_RACE_H_

#include "absl/status/status.h"
#include "tools/bench/effort.h"
#include "tools/bench/report.h"

namespace superfluid::bench {

// Times PINGs and ticks of the worker beside its peers, in every placement, and adds ratios, round
// trips and controls to the report.
absl::Status Race(const Effort& effort, Report& report);

}  // namespace superfluid::bench

#endif  // SUPERFLUID_TOOLS_BENCH_RACE_H_
