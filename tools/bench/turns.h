#ifndef SUPERFLUID_TOOLS_BENCH_TURNS_H_
#define SUPERFLUID_TOOLS_BENCH_TURNS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tools/bench/statistics.h"

namespace superfluid::bench {

// Somebody whose round trips are timed, in turns with others. Threads: one.
class Contestant {
 public:
  virtual ~Contestant() = default;
  // Names it in tables: "worker", "gRPC unary". Constant.
  virtual std::string name() const = 0;
  // Comes before each round trip and is not timed.
  virtual absl::Status Prepare() { return absl::OkStatus(); }
  // Goes there and back once.
  virtual absl::Status RoundTrip() = 0;
};

struct TurnOptions {
  int rounds = 30;       // at least 1
  int operations = 100;  // of each contestant in each round, at least 1
  uint32_t seed = 1;     // of the order within a round
};

// How long round trips took, in microseconds.
struct Timing {
  std::string name;
  std::vector<double> rounds;  // the median of each
  Spread all;                  // over the rounds
};

// Times everyone in turns, in an order that is shuffled anew in each round, so that a disturbance
// of the machine falls upon all alike. Returns one timing a contestant, in their order. The first
// error of a round trip ends it.
absl::StatusOr<std::vector<Timing>> PlayInTurns(absl::Span<Contestant* const> contestants,
                                                const TurnOptions& options);

// The timing with this name. REQUIRES: there is one.
const Timing& Named(absl::Span<const Timing> timings, const std::string& name);

}  // namespace superfluid::bench

#endif  // SUPERFLUID_TOOLS_BENCH_TURNS_H_
