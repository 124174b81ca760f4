#include <cstdio>
#include <string>
#include <variant>

#include "tools/service/descriptors.h"
#include "tools/service/service_manager.h"
#include "tools/worker/crash_report.h"
#include "tools/worker/engine_help.h"
#include "tools/worker/log_line.h"
#include "tools/worker/worker_log.h"
#include "tools/worker/worker_options.h"
#include "tools/worker/worker_process.h"

int main(int argc, char** argv) {
  superfluid::HoldStandardDescriptors();
  superfluid::RaiseDescriptorLimit();
  superfluid::InstallCrashReport(argv[0]);
  superfluid::ServiceManager manager = superfluid::ServiceManager::FromEnvironment();
  const auto parsed =
      superfluid::ParseWorkerOptions(argc, argv, superfluid::TakeActivatedSockets());
  if (const auto* exit = std::get_if<superfluid::ParseExit>(&parsed)) {
    std::fputs(exit->out.c_str(), stdout);
    std::fputs(exit->err.c_str(), stderr);
    return exit->code;
  }
  const auto& options = std::get<superfluid::WorkerOptions>(parsed);
  if (options.asks_for_engine_options) {
    const absl::StatusOr<std::string> help = superfluid::EngineHelp(options);
    if (help.ok()) {
      std::fputs(help->c_str(), stdout);
      return 0;
    }
    std::fprintf(stderr, "superfluid_worker: %s\n", std::string(help.status().message()).c_str());
    return static_cast<int>(superfluid::ExitCode::kEngineNotLoaded);
  }
  if (const absl::Status log = superfluid::StartLog(options.log); !log.ok()) {
    const std::string why = "no log: " + log.ToString();
    const superfluid::LogStyle style = {.format = options.log.format, .worker = options.log.name};
    superfluid::LogLine line("error", "worker.cannot_start");
    std::fputs(std::string(line.Text("error", why).End(style)).c_str(), stderr);
    return superfluid::kExitCannotStart;
  }
  const int code = superfluid::RunWorker(options, manager);
  superfluid::FlushLog(superfluid::kLogPatience);
  return code;
}
