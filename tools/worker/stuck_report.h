#ifndef SUPERFLUID_TOOLS_WORKER_STUCK_REPORT_H_
#define SUPERFLUID_TOOLS_WORKER_STUCK_REPORT_H_

#include "absl/time/time.h"

namespace superfluid {

// Remembers the calling thread as the engine's, for the report below. Threads: any, once.
void NoteEngineThread();

// Writes a one-page report on a stuck engine to standard error, has the engine's thread print its
// stack and end the process with SIGABRT (and so with a core, where the system keeps cores).
// Needs InstallStuckReport; does not return.
[[noreturn]] void ReportStuckEngineAndAbort(absl::Duration step_age);

// Installs the handlers that print stacks. From main, first.
void InstallStuckReport(const char* argv0);

}  // namespace superfluid

#endif  // SUPERFLUID_TOOLS_WORKER_STUCK_REPORT_H_
