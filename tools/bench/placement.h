#ifndef SUPERFLUID_TOOLS_BENCH_PLACEMENT_H_
#define SUPERFLUID_TOOLS_BENCH_PLACEMENT_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace superfluid::bench {

// Where the two ends of a round trip run. Compare figures of one placement only: a wake costs more
// from one core to the other than within one.
struct Placement {
  std::string name;
  std::vector<int> client;
  std::vector<int> server;
};

// One core; client and server on a core each; anywhere. With a single CPU only the first.
std::vector<Placement> PlacementsOn(const std::vector<int>& cpus);

// Puts this process and the servers there.
absl::Status Apply(const Placement& placement, const std::vector<pid_t>& servers);

}  // namespace superfluid::bench

#endif  // SUPERFLUID_TOOLS_BENCH_PLACEMENT_H_
