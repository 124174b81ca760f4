#include "tools/bench/turns.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <numeric>
#include <random>

#include "absl/strings/str_cat.h"

namespace superfluid::bench {
namespace {

using Clock = std::chrono::steady_clock;

// The median of one contestant's turn, in microseconds.
absl::StatusOr<double> PlayTurn(Contestant& contestant, int operations) {
  std::vector<double> took;
  took.reserve(static_cast<size_t>(operations));
  for (int i = 0; i < operations; ++i) {
    absl::Status status = contestant.Prepare();
    const Clock::time_point begin = Clock::now();
    if (status.ok()) status = contestant.RoundTrip();
    const Clock::time_point end = Clock::now();
    if (!status.ok()) {
      return absl::Status(status.code(), absl::StrCat(contestant.name(), ": ", status.message()));
    }
    took.push_back(std::chrono::duration<double, std::micro>(end - begin).count());
  }
  return Percentile(std::move(took), 0.5);
}

}  // namespace

absl::StatusOr<std::vector<Timing>> PlayInTurns(absl::Span<Contestant* const> contestants,
                                                const TurnOptions& options) {
  std::vector<Timing> timings(contestants.size());
  std::vector<size_t> order(contestants.size());
  std::iota(order.begin(), order.end(), size_t{0});
  for (size_t i = 0; i < order.size(); ++i) timings[i].name = contestants[i]->name();
  std::mt19937 random(options.seed);
  for (int round = -1; round < options.rounds; ++round) {  // the first only warms up
    std::shuffle(order.begin(), order.end(), random);
    for (const size_t i : order) {
      const absl::StatusOr<double> median = PlayTurn(*contestants[i], options.operations);
      if (!median.ok()) return median.status();
      if (round >= 0) timings[i].rounds.push_back(*median);
    }
  }
  for (Timing& timing : timings) timing.all = SpreadOf(timing.rounds);
  return timings;
}

const Timing& Named(absl::Span<const Timing> timings, const std::string& name) {
  const auto found = std::find_if(timings.begin(), timings.end(),
                                  [&](const Timing& timing) { return timing.name == name; });
  if (found == timings.end()) std::abort();
  return *found;
}

}  // namespace superfluid::bench
