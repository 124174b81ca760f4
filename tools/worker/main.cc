#include <cstdio>
#include <memory>
#include <variant>

#include "spdlog/sinks/stdout_sinks.h"
#include "spdlog/spdlog.h"
#include "tools/worker/stuck_report.h"
#include "tools/worker/worker_options.h"
#include "tools/worker/worker_process.h"

namespace {

void SetUpLogging(const std::string& level) {
  auto logger = spdlog::stderr_logger_mt("worker");
  logger->set_pattern("%Y-%m-%dT%H:%M:%S.%fZ %l %v", spdlog::pattern_time_type::utc);
  logger->set_level(spdlog::level::from_str(level));
  logger->flush_on(spdlog::level::trace);
  spdlog::set_default_logger(logger);
}

}  // namespace

int main(int argc, char** argv) {
  superfluid::InstallStuckReport(argv[0]);
  const auto parsed = superfluid::ParseWorkerOptions(argc, argv);
  if (const auto* exit = std::get_if<superfluid::ParseExit>(&parsed)) {
    std::fputs(exit->out.c_str(), stdout);
    std::fputs(exit->err.c_str(), stderr);
    return exit->code;
  }
  const auto& options = std::get<superfluid::WorkerOptions>(parsed);
  SetUpLogging(options.log_level);
  return superfluid::RunWorker(options);
}
