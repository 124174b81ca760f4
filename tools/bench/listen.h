#ifndef SUPERFLUID_TOOLS_BENCH_LISTEN_H_
#define SUPERFLUID_TOOLS_BENCH_LISTEN_H_

#include <string>

#include "absl/status/statusor.h"
#include "shm/owned_fd.h"

namespace superfluid::bench {

// A Unix stream socket that listens on `path` and whose accept blocks.
absl::StatusOr<OwnedFd> ListenBlocking(const std::string& path);

}  // namespace superfluid::bench

#endif  // SUPERFLUID_TOOLS_BENCH_LISTEN_H_
