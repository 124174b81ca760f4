#include "tools/worker/engine_log.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "actors/runtime/printable.h"
#include "engine/compute_threads.h"
#include "spdlog/spdlog.h"

namespace superfluid {
namespace {

spdlog::level::level_enum ToSpdlog(EngineLogLevel level) {
  switch (level) {
    case EngineLogLevel::kDebug:
      return spdlog::level::debug;
    case EngineLogLevel::kInfo:
      return spdlog::level::info;
    case EngineLogLevel::kWarning:
      return spdlog::level::warn;
    case EngineLogLevel::kError:
      break;
  }
  return spdlog::level::err;
}

void LogOfEngine(EngineLogLevel level, absl::string_view line) {
  spdlog::log(ToSpdlog(level), "engine.says text=\"{}\"", Printable(line));
}

void LogOfHost(EngineLogLevel level, absl::string_view line) {
  spdlog::log(ToSpdlog(level), "engine.misbehaves text=\"{}\"", Printable(line));
}

void LogSlowStep(const SlowStep& step) {
  spdlog::warn(
      "engine.slow_step took_ms={} said_ms={} asked_whether_cancelled={} reason=\"steps take "
      "longer than the engine says (micro_step_us), and cancels with them\"",
      absl::ToInt64Milliseconds(step.took), absl::ToInt64Milliseconds(step.said),
      step.asked_whether_cancelled ? "yes" : "no");
}

}  // namespace

void SendToLog(EngineConfig& config) {
  config.log = LogOfEngine;
  config.host_log = LogOfHost;
  config.on_slow_step = LogSlowStep;
}

int ComputeThreads(int wanted) {
  const int most = LimitThreads(std::numeric_limits<int>::max()).threads;
  if (wanted <= most) return wanted == 0 ? most : wanted;
  spdlog::warn(
      "engine.many_threads threads={} cores={} reason=\"the process may use {} cores (affinity, "
      "the quota of its cgroup), and more threads than those make an engine far slower: it gets "
      "{}\"",
      wanted, most, most, most);
  return most;
}

void NoteUnusedDevice(const Engine& engine, int device) {
  if (device == 0) return;
  const nlohmann::json capabilities =
      nlohmann::json::parse(engine.CapabilitiesJson(), nullptr, /*allow_exceptions=*/false);
  if (capabilities.is_object() && capabilities.value("device", nlohmann::json()) == "cpu") {
    spdlog::warn("engine.device_ignored device={} reason=\"this engine runs on the CPU\"", device);
  }
}

}  // namespace superfluid
