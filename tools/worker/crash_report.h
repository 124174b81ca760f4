#ifndef SUPERFLUID_TOOLS_WORKER_CRASH_REPORT_H_
#define SUPERFLUID_TOOLS_WORKER_CRASH_REPORT_H_

#include <memory>
#include <string_view>

#include "absl/time/time.h"
#include "actors/messages/engine_progress.h"

namespace superfluid {

// Has signals that end a process by a fault of its own (SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT,
// SIGTRAP, SIGSYS) report it in the log first, as `crash.signal` and one `crash.frame` for each
// frame of the thread's stack (in the log's format, with the worker's name); then the signal ends
// the process as it would have (with a core, where the system keeps cores). That takes three
// seconds at most, whether or not anybody reads the log. From main, before there is another thread.
void InstallCrashReport(const char* argv0);

// Remembers the calling thread as the engine's, and the engine's name, for the report. Threads:
// any, once.
void NoteEngineThread(std::string_view engine);

// Has the report name the request that the engine works for. Threads: any, once.
void NoteEngineProgress(std::shared_ptr<const EngineProgress> progress);

// Reports that the engine is stuck, has its thread report its stack, and ends the process with
// SIGABRT. Needs InstallCrashReport. Waits for nobody who may be stuck himself.
[[noreturn]] void ReportStuckEngineAndAbort(absl::Duration step_age);

}  // namespace superfluid

#endif  // SUPERFLUID_TOOLS_WORKER_CRASH_REPORT_H_
