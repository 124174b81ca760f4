#include <cstdio>
#include <filesystem>
#include <system_error>
#include <variant>

#include "tools/superfluidd/daemon.h"
#include "tools/superfluidd/daemon_options.h"

int main(int argc, char** argv) {
  auto parsed = superfluid::daemon::ParseDaemonOptions(argc, argv);
  if (const auto* exit = std::get_if<superfluid::daemon::ParseExit>(&parsed)) {
    std::fputs(exit->out.c_str(), stdout);
    std::fputs(exit->err.c_str(), stderr);
    return exit->code;
  }
  auto& options = std::get<superfluid::daemon::DaemonOptions>(parsed);
  if (options.config.worker_program.empty()) {
    std::error_code error;
    const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
    options.config.worker_program = superfluid::daemon::FindWorker(self.string());
  }
  return superfluid::daemon::RunDaemon(options);
}
