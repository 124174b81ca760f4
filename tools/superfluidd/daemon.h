#ifndef SUPERFLUID_TOOLS_SUPERFLUIDD_DAEMON_H_
#define SUPERFLUID_TOOLS_SUPERFLUIDD_DAEMON_H_

#include "tools/superfluidd/daemon_options.h"

namespace superfluid::daemon {

// Runs the daemon to its end on the calling thread; returns its exit code. REQUIRES: no other
// thread exists yet.
int RunDaemon(const DaemonOptions& options);

}  // namespace superfluid::daemon

#endif  // SUPERFLUID_TOOLS_SUPERFLUIDD_DAEMON_H_
