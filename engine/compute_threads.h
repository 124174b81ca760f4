#ifndef SUPERFLUID_ENGINE_COMPUTE_THREADS_H_
#define SUPERFLUID_ENGINE_COMPUTE_THREADS_H_

#include <functional>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace superfluid {

// How many threads to compute with. The libraries' threads wait for each other many times in a
// pass, and burn their core while they wait: as soon as one of them has no core, all are slower
// than a single one. Threads: one at a time.

// The threads for `wanted` (0: one): no more than the process has CPUs, by affinity and by the
// quota of its cgroup. `warning`: "" or why there are fewer.
struct ThreadLimit {
  int threads = 1;
  std::string warning;
};
ThreadLimit LimitThreads(int wanted);

// Returns the CPUs' worth of time of a "cpu.max" of cgroups ("150000 100000" is 1.5); nullopt:
// without limit, or not in that form.
std::optional<double> ParseCpuMax(absl::string_view text);

// Times since some start, of the CPUs that the process may use.
struct CpuTimes {
  absl::Time at;
  absl::Duration busy;  // of all processes, added up over the CPUs
  absl::Duration own;   // of this process
  int cpus = 1;
};
// Nullopt: the system does not say.
std::optional<CpuTimes> ReadCpuTimes();

// Chooses anew for each computation, by how busy others have kept the CPUs since the last look.
class ThreadChoice {
 public:
  using Reader = std::function<std::optional<CpuTimes>()>;

  explicit ThreadChoice(int most, Reader read = ReadCpuTimes);

  // Returns the threads for the next computation, 1 to most().
  int Next();
  // Forgets what is older than a second: to be called when there is work after a pause.
  void Begin();
  int most() const { return most_; }

 private:
  int most_;
  Reader read_;
  std::optional<CpuTimes> seen_;
  int threads_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_COMPUTE_THREADS_H_
