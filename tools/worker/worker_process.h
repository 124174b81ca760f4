#ifndef SUPERFLUID_TOOLS_WORKER_WORKER_PROCESS_H_
#define SUPERFLUID_TOOLS_WORKER_WORKER_PROCESS_H_

#include "absl/time/time.h"
#include "tools/service/service_manager.h"
#include "tools/worker/worker_options.h"

namespace superfluid {

inline constexpr int kExitCannotStart = 1;

// How long the end of the process waits for the reader of the log.
inline constexpr absl::Duration kLogPatience = absl::Seconds(1);

// Runs a worker until it is told to stop, or must: loads the engine, opens the sockets, composes
// the actors, and waits for signals. Returns the exit code (see --help). To be called from main,
// before any thread exists. `manager`: is told of the start, the end and the progress.
int RunWorker(const WorkerOptions& options, ServiceManager& manager);

}  // namespace superfluid

#endif  // SUPERFLUID_TOOLS_WORKER_WORKER_PROCESS_H_
