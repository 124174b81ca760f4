#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "tools/service/descriptors.h"
#include "tools/service/service_manager.h"
#include "tools/superfluidd/daemon.h"
#include "tools/superfluidd/daemon_options.h"

namespace superfluid::daemon {
namespace {

void AddWorkerProgram(DaemonOptions& options) {
  if (!options.config.worker_program.empty()) return;
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  options.config.worker_program = FindWorker(self.string());
}

absl::StatusOr<DaemonOptions> ReadAgain(int argc, char** argv) {
  auto parsed = ParseDaemonOptions(argc, argv);
  if (const auto* exit = std::get_if<ParseExit>(&parsed)) {
    return absl::InvalidArgumentError(absl::StripAsciiWhitespace(exit->err));
  }
  AddWorkerProgram(std::get<DaemonOptions>(parsed));
  return std::get<DaemonOptions>(parsed);
}

int Main(int argc, char** argv) {
  HoldStandardDescriptors();
  ServiceManager manager = ServiceManager::FromEnvironment();
  auto parsed = ParseDaemonOptions(argc, argv);
  if (const auto* exit = std::get_if<ParseExit>(&parsed)) {
    std::fputs(exit->out.c_str(), stdout);
    std::fputs(exit->err.c_str(), stderr);
    return exit->code;
  }
  auto& options = std::get<DaemonOptions>(parsed);
  AddWorkerProgram(options);
  return RunDaemon(
      options, [argc, argv] { return ReadAgain(argc, argv); }, manager);
}

}  // namespace
}  // namespace superfluid::daemon

int main(int argc, char** argv) { return superfluid::daemon::Main(argc, argv); }
