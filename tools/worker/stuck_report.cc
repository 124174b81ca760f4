#include "tools/worker/stuck_report.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "absl/debugging/failure_signal_handler.h"
#include "absl/debugging/symbolize.h"

namespace superfluid {
namespace {

// The engine's thread; 0 until it is known (no thread of ours has that id on Linux).
std::atomic<pthread_t>& EngineThreadId() {
  static std::atomic<pthread_t> id{};
  return id;
}

}  // namespace

void NoteEngineThread() { EngineThreadId().store(pthread_self()); }

void InstallStuckReport(const char* argv0) {
  absl::InitializeSymbolizer(argv0);
  absl::InstallFailureSignalHandler(absl::FailureSignalHandlerOptions{});
}

void ReportStuckEngineAndAbort(absl::Duration step_age) {
  std::fprintf(
      stderr,
      "\n==== the engine is stuck ====\n"
      "process     %d\n"
      "step age    %s\n"
      "what        one call into the engine has not returned within --engine-kill-ms;\n"
      "            no request can be served and the accelerator cannot be freed otherwise\n"
      "what now    the process ends; the stack of the engine's thread follows\n\n",
      static_cast<int>(getpid()), absl::FormatDuration(step_age).c_str());
  if (const pthread_t thread = EngineThreadId().load(); thread != 0) {
    pthread_kill(thread, SIGABRT);
    // The handler ends the process; if the thread cannot even run it, this one does.
    std::this_thread::sleep_for(std::chrono::seconds(3));
  }
  std::abort();
}

}  // namespace superfluid
