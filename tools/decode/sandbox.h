#ifndef SUPERFLUID_TOOLS_DECODE_SANDBOX_H_
#define SUPERFLUID_TOOLS_DECODE_SANDBOX_H_

#include "absl/status/status.h"
#include "tools/decode/decode_message.h"

namespace superfluid::decode {

// Has the kernel kill this process as soon as the other end of `lifeline_fd` is closed.
// PR_SET_PDEATHSIG would do so when the *thread* that started the process ends, which in a daemon
// is no sign of anything. Errors: Internal (fcntl).
absl::Status DieWithClient(int lifeline_fd);

// Takes from this process, for good, all that decoding does not need: it can read `kInputFd`, write
// to `kControlFd` and `kPcmFd`, and use memory that is never executable. No file can be opened, no
// socket or process made (each such call fails with EPERM); memory and CPU time are bounded, the
// latter by SIGXCPU. Call it before the first byte of a recording is looked at. Errors: Internal;
// the process must end then.
absl::Status Confine(const DecodeLimits& limits);

}  // namespace superfluid::decode

#endif  // SUPERFLUID_TOOLS_DECODE_SANDBOX_H_
