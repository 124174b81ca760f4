#ifndef SUPERFLUID_TOOLS_WORKER_SANDBOX_H_
#define SUPERFLUID_TOOLS_WORKER_SANDBOX_H_

#include "absl/status/status.h"

namespace superfluid {

// What a worker may still do once its engine is loaded and its socket listens.
enum class SandboxProfile {
  kOff,     // all that its user may do
  kCpu,     // compute, use memory that is not executable, open files for reading, accept
            // connections, start threads of its own
  kDevice,  // as well what a driver of an accelerator needs: any ioctl, device files that are
            // written to, executable memory
};

struct SandboxOptions {
  SandboxProfile profile = SandboxProfile::kOff;
  bool notifies = false;  // a service manager is told how the worker is, over a socket a message
};

// Takes from this process, for good and on all of its threads, all that the profile does not have:
// programs, sockets of its own, files that are made or written to, other processes, and the raising
// of its limits. A call that is not allowed fails with EPERM. No core is dumped afterwards. A file
// of a socket that the worker made stays when it ends. Errors: Internal; the process must end then.
absl::Status Confine(const SandboxOptions& options);

}  // namespace superfluid

#endif  // SUPERFLUID_TOOLS_WORKER_SANDBOX_H_
