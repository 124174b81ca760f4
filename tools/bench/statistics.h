#ifndef SUPERFLUID_TOOLS_BENCH_STATISTICS_H_
#define SUPERFLUID_TOOLS_BENCH_STATISTICS_H_

#include <vector>

#include "absl/types/span.h"

namespace superfluid::bench {

// A median with its 10th and 90th percentile.
struct Spread {
  double median = 0;
  double p10 = 0;
  double p90 = 0;
};

// Returns the value below which `share` (0 to 1) of the values lie. REQUIRES: values is not empty.
double Percentile(std::vector<double> values, double share);

// REQUIRES: values is not empty.
Spread SpreadOf(const std::vector<double>& values);

// Divides round by round. REQUIRES: both have the same number of rounds, at least one, and no
// divisor is 0.
Spread RatioOf(absl::Span<const double> rounds, absl::Span<const double> divisors);

}  // namespace superfluid::bench

#endif  // SUPERFLUID_TOOLS_BENCH_STATISTICS_H_
