#include "tools/superfluidd/daemon_config.h"

#include <algorithm>
#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace superfluid::daemon {
namespace {

constexpr size_t kMostCpuWorkers = 4;  // that "auto" starts
constexpr uint32_t kMostWorkers = 256;

// Where each worker of a model computes: an accelerator, or none.
using Devices = std::vector<std::optional<uint32_t>>;

bool UsesAccelerators(const std::string& engine) { return engine == "whisper"; }

absl::StatusOr<Devices> ParseDevices(const ModelConfig& model, size_t accelerators, size_t cpus) {
  Devices devices;
  absl::string_view text = model.devices;
  if (text == "auto") {
    if (UsesAccelerators(model.engine) && accelerators > 0) {
      for (uint32_t i = 0; i < accelerators; ++i) devices.emplace_back(i);
      return devices;
    }
    const size_t count = UsesAccelerators(model.engine) ? 1 : std::min(cpus, kMostCpuWorkers);
    devices.resize(std::max<size_t>(count, 1));
    return devices;
  }
  uint32_t number = 0;
  if (absl::ConsumePrefix(&text, "cpu:")) {
    if (!absl::SimpleAtoi(text, &number) || number == 0 || number > kMostWorkers) {
      return absl::InvalidArgumentError(
          absl::StrCat("devices '", model.devices, "': cpu: wants a number from 1 to 256"));
    }
    devices.resize(number);
    return devices;
  }
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    if (!absl::SimpleAtoi(part, &number)) {
      return absl::InvalidArgumentError(
          absl::StrCat("devices '", model.devices, "' are neither auto, nor as 0,1, nor as cpu:2"));
    }
    devices.emplace_back(number);
  }
  return devices;
}

WorkerCommand CommandOf(const DaemonConfig& config, const ModelConfig& model,
                        std::optional<uint32_t> device, size_t index) {
  WorkerCommand command = {.program = config.worker_program, .arguments = {}, .cpus = {}};
  const auto add = [&](const std::string& option, const std::string& value) {
    command.arguments.push_back(option);
    command.arguments.push_back(value);
  };
  add("--engine", model.engine);
  for (const std::string& folder : config.engine_dirs) add("--engine-dir", folder);
  if (!model.path.empty()) add("--model", model.path);
  for (const auto& [key, value] : model.options) {
    add("--engine-option", absl::StrCat(key, "=", value));
  }
  if (device.has_value()) add("--device", absl::StrCat(*device));
  if (model.threads > 0) add("--threads", absl::StrCat(model.threads));
  add("--log-level", config.log_level);
  if (config.log_format != "logfmt") add("--log-format", config.log_format);
  if (!model.cpus.empty()) command.cpus = model.cpus[index % model.cpus.size()];
  return command;
}

}  // namespace

std::vector<std::string> LogLevels() { return {"trace", "debug", "info", "warn", "error", "off"}; }

std::vector<std::string> LogFormats() { return {"logfmt", "json"}; }

std::string NameOf(const ModelConfig& model) {
  return model.name.empty() ? model.engine : model.name;
}

absl::StatusOr<std::vector<FleetWorker>> WorkersOf(const DaemonConfig& config, size_t accelerators,
                                                   size_t cpus) {
  std::vector<FleetWorker> workers;
  for (const ModelConfig& model : config.models) {
    const absl::StatusOr<Devices> devices = ParseDevices(model, accelerators, cpus);
    if (!devices.ok()) return devices.status();
    for (size_t i = 0; i < devices->size(); ++i) {
      workers.push_back({.model = NameOf(model),
                         .command = CommandOf(config, model, (*devices)[i], i),
                         .places = model.places});
    }
  }
  return workers;
}

}  // namespace superfluid::daemon
