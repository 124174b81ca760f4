#ifndef SUPERFLUID_TOOLS_WORKER_WORKER_PROCESS_H_
#define SUPERFLUID_TOOLS_WORKER_WORKER_PROCESS_H_

#include "tools/worker/worker_options.h"

namespace superfluid {

// Runs a worker until it is told to stop, or must: loads the engine, opens the sockets, composes
// the actors, and waits for signals. Returns the exit code (see --help). To be called from main,
// before any thread exists.
int RunWorker(const WorkerOptions& options);

}  // namespace superfluid

#endif  // SUPERFLUID_TOOLS_WORKER_WORKER_PROCESS_H_
