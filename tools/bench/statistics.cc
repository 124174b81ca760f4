#include "tools/bench/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace superfluid::bench {

double Percentile(std::vector<double> values, double share) {
  const auto last = static_cast<double>(values.size() - 1);
  const auto place = values.begin() + std::lround(share * last);
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

Spread SpreadOf(const std::vector<double>& values) {
  return {.median = Percentile(values, 0.5),
          .p10 = Percentile(values, 0.1),
          .p90 = Percentile(values, 0.9)};
}

Spread RatioOf(absl::Span<const double> rounds, absl::Span<const double> divisors) {
  std::vector<double> ratios;
  ratios.reserve(rounds.size());
  for (size_t i = 0; i < rounds.size(); ++i) ratios.push_back(rounds[i] / divisors[i]);
  return SpreadOf(ratios);
}

}  // namespace superfluid::bench
