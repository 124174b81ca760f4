#ifndef SUPERFLUID_TOOLS_SUPERFLUIDD_DAEMON_H_
#define SUPERFLUID_TOOLS_SUPERFLUIDD_DAEMON_H_

#include <functional>

#include "absl/status/statusor.h"
#include "tools/service/service_manager.h"
#include "tools/superfluidd/daemon_options.h"

namespace superfluid::daemon {

// Reads the options again, for SIGHUP. Errors: InvalidArgument, with what is wrong.
using ReloadOptions = std::function<absl::StatusOr<DaemonOptions>()>;

// Runs the daemon to its end on the calling thread; returns its exit code. `manager` is told of the
// start, reloads, the end and the progress. REQUIRES: no other thread exists yet.
int RunDaemon(const DaemonOptions& options, const ReloadOptions& reload, ServiceManager& manager);

}  // namespace superfluid::daemon

#endif  // SUPERFLUID_TOOLS_SUPERFLUIDD_DAEMON_H_
