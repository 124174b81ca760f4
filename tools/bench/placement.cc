#include "tools/bench/placement.h"

#include <unistd.h>

#include "tools/bench/host.h"

namespace superfluid::bench {

std::vector<Placement> PlacementsOn(const std::vector<int>& cpus) {
  const int last = cpus.back();
  std::vector<Placement> placements = {{"one core", {last}, {last}}};
  if (cpus.size() > 1) {
    placements.push_back({"a core each", {cpus.front()}, {last}});
    placements.push_back({"unpinned", cpus, cpus});
  }
  return placements;
}

absl::Status Apply(const Placement& placement, const std::vector<pid_t>& servers) {
  if (absl::Status status = PlaceProcess(getpid(), placement.client); !status.ok()) return status;
  for (const pid_t server : servers) {
    if (absl::Status status = PlaceProcess(server, placement.server); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace superfluid::bench
