#ifndef SUPERFLUID_TESTS_SIMULATION_KERNEL_H_
#define SUPERFLUID_TESTS_SIMULATION_KERNEL_H_

#include <cstdint>

namespace superfluid::simulation {

// What the kernel refuses to the worker. The calls for descriptors (memfd_create, duplication) and
// for mappings go through kernel.cc in a program that links it (-Wl,--wrap). Threads: one.
struct KernelFaults {
  bool no_descriptors = false;  // every call for one fails, EMFILE
  uint32_t bad_descriptor = 0;  // the n-th call for one from now on fails; 0: none
  uint32_t bad_mapping = 0;     // the n-th mapping from now on fails, ENOMEM; 0: none
};

void SetKernelFaults(const KernelFaults& faults);

// Lets the faults apply as long as it lives: code of the worker runs. The peers never meet them.
class WorkerRuns {
 public:
  WorkerRuns();
  WorkerRuns(const WorkerRuns&) = delete;
  WorkerRuns& operator=(const WorkerRuns&) = delete;
  ~WorkerRuns();
};

// What the process got by these calls and has not given back.
struct KernelHoldings {
  int64_t descriptors = 0;
  int64_t mappings = 0;
};
KernelHoldings HeldOfKernel();

// Returns how many calls were refused since the process began.
int64_t KernelRefusals();

}  // namespace superfluid::simulation

#endif  // SUPERFLUID_TESTS_SIMULATION_KERNEL_H_
