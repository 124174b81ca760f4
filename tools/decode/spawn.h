#ifndef SUPERFLUID_TOOLS_DECODE_SPAWN_H_
#define SUPERFLUID_TOOLS_DECODE_SPAWN_H_

#include <sys/types.h>

#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace superfluid::decode {

struct SpawnFd {
  int fd;  // here
  int as;  // there
};

// Starts `program` without arguments, in a process group of its own, with `fds` (which stay open
// here) and /dev/null as its standard descriptors, default signals, and of the environment only
// the names that the loader and the sanitizers look at: no secret of ours gets into its memory.
// Errors: NotFound, PermissionDenied, ResourceExhausted. Threads: any.
absl::StatusOr<pid_t> Spawn(const std::string& program, absl::Span<const SpawnFd> fds);

}  // namespace superfluid::decode

#endif  // SUPERFLUID_TOOLS_DECODE_SPAWN_H_
