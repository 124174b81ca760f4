#ifndef SUPERFLUID_TOOLS_BENCH_HOST_H_
#define SUPERFLUID_TOOLS_BENCH_HOST_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"

// The machine and its processes, as far as measuring needs them: where threads may run, and what
// they used.
namespace superfluid::bench {

// What the machine did beside us; the difference of two tells about the time between.
struct CpuTimes {
  uint64_t total = 0;  // ticks of all CPUs
  uint64_t steal = 0;  // ticks that the hypervisor gave to others
  uint64_t idle = 0;
};
CpuTimes ReadCpuTimes();

// "Linux 6.1.0", "AMD EPYC".
std::string KernelName();
std::string CpuName();

// The CPUs that this process may use at its start, ascending.
std::vector<int> AllowedCpus();

// Restricts every thread of a process, and those that they start, to these CPUs.
absl::Status PlaceProcess(pid_t process, const std::vector<int>& cpus);

// What a process has used since its start.
struct ProcessUsage {
  double cpu_us = 0;    // of all threads that live
  uint64_t sleeps = 0;  // voluntary switches of all threads that live
  int threads = 0;
  uint64_t rss_kib = 0;
};
ProcessUsage ReadUsage(pid_t process);

}  // namespace superfluid::bench

#endif  // SUPERFLUID_TOOLS_BENCH_HOST_H_
