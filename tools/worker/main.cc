#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "spdlog/pattern_formatter.h"
#include "spdlog/sinks/stdout_sinks.h"
#include "spdlog/spdlog.h"
#include "tools/worker/stuck_report.h"
#include "tools/worker/worker_options.h"
#include "tools/worker/worker_process.h"

namespace {

// The level as --log-level calls it.
class LevelName : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&,
              spdlog::memory_buf_t& out) override {
    static constexpr std::string_view kNames[] = {"trace", "debug", "info", "warn", "error"};
    const auto level = static_cast<size_t>(message.level);
    const std::string_view name = level < std::size(kNames) ? kNames[level] : "error";
    out.append(name.data(), name.data() + name.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<LevelName>();
  }
};

void SetUpLogging(const std::string& level) {
  auto logger = spdlog::stderr_logger_mt("worker");
  auto formatter = std::make_unique<spdlog::pattern_formatter>(spdlog::pattern_time_type::utc);
  formatter->add_flag<LevelName>('*').set_pattern("%Y-%m-%dT%H:%M:%S.%fZ %* %v");
  logger->set_formatter(std::move(formatter));
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
