#include "engine/abi/plugin_engine.h"

#include <limits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "engine/abi/describe.h"
#include "engine/abi/plugin_call.h"
#include "engine/abi/plugin_job.h"
#include "engine/abi/plugin_vtable.h"
#include "engine/abi/served_calls.h"
#include "engine/abi/text.h"

namespace superfluid {
namespace {

std::vector<sfl_option> AbiOptions(const EngineConfig& config) {
  std::vector<sfl_option> options;
  options.reserve(config.options.size());
  for (const auto& [key, value] : config.options) {
    options.push_back({AbiString(key), AbiString(value)});
  }
  return options;
}

}  // namespace

PluginEngine::PluginEngine(const sfl_engine_vtable& functions, const EngineConfig& config)
    : functions_(functions),
      log_(config.log, config.host_log, config.on_loading),
      slow_steps_(info_.micro_step, config.on_slow_step) {}

absl::StatusOr<std::unique_ptr<Engine>> PluginEngine::Create(const sfl_engine_vtable* table,
                                                             const EngineConfig& config) {
  const absl::StatusOr<sfl_engine_vtable> functions = ReadVtable(table);
  if (!functions.ok()) return functions.status();
  std::unique_ptr<PluginEngine> engine(new PluginEngine(*functions, config));
  if (absl::Status status = engine->CreateInPlugin(config); !status.ok()) return status;
  if (absl::Status status = engine->Describe(); !status.ok()) return status;
  engine->slow_steps_ = SlowSteps(engine->info_.micro_step, config.on_slow_step);
  return engine;
}

absl::Status PluginEngine::CreateInPlugin(const EngineConfig& config) {
  const std::vector<sfl_option> options = AbiOptions(config);
  if (options.size() > std::numeric_limits<uint32_t>::max()) {
    return absl::InvalidArgumentError("too many engine options");
  }
  const sfl_config abi_config = {sizeof(sfl_config), config.device,
                                 config.threads,     static_cast<uint32_t>(options.size()),
                                 options.data(),     AbiString(config.model_path)};
  sfl_engine* created = nullptr;
  absl::Status status = CallPlugin("create", error_, [&](sfl_error* error) {
    return functions_.create(&abi_config, log_.abi(), &created, error);
  });
  log_.EndLoading();
  if (!status.ok()) return status;
  if (created == nullptr) return absl::InternalError("create: the engine returned no engine");
  engine_ = created;
  return absl::OkStatus();
}

absl::Status PluginEngine::Describe() {
  absl::StatusOr<PluginDescription> description = DescribePlugin(functions_, engine_, error_);
  if (!description.ok()) return description.status();
  info_ = std::move(description->info);
  if (!description->generates) return absl::OkStatus();
  absl::StatusOr<std::unique_ptr<PluginGeneration>> made =
      PluginGeneration::Create(Handle(), info_);
  if (!made.ok()) return made.status();
  generation_ = *std::move(made);
  return absl::OkStatus();
}

PluginEngine::~PluginEngine() {
  thread_.Check("destroy");
  if (engine_ == nullptr) return;
  const absl::Status status = CallPlugin("destroy", error_, [&](sfl_error*) {
    functions_.destroy(engine_);
    return sfl_status{SFL_OK};
  });
  if (!status.ok()) log_.Write(EngineLogLevel::kError, status.message());
}

const EngineInfo& PluginEngine::info() const {
  // No check of the thread: constant, and of use to whoever reports on the engine.
  return info_;
}

std::string PluginEngine::CapabilitiesJson() const {
  thread_.Check("describe");
  absl::StatusOr<std::string> json = PluginCapabilities(functions_, engine_, error_);
  if (json.ok()) {
    return WithServedCalls(*std::move(json), functions_, info_, generation_ != nullptr);
  }
  log_.Write(EngineLogLevel::kError, json.status().message());
  return "{}";
}

MemoryCounters PluginEngine::Memory() const {
  thread_.Check("memory");
  if (functions_.memory == nullptr) return {};
  sfl_memory raw = {};
  raw.struct_size = sizeof raw;
  const absl::Status status = CallPlugin(
      "memory", error_, [&](sfl_error* error) { return functions_.memory(engine_, &raw, error); });
  if (!status.ok()) return {};
  return {raw.allocated_bytes,  raw.host_retained_bytes,  raw.pool_blocks_total,
          raw.pool_blocks_used, raw.pool_bytes_evictable, raw.tentative_bytes};
}

absl::StatusOr<std::unique_ptr<TranscriptionJob>> PluginEngine::StartTranscription(
    const TranscriptionParams& params, std::unique_ptr<AudioSource> audio) {
  thread_.Check("transcription_start");
  if (info_.max_transcriptions == 0) return Engine::StartTranscription(params, std::move(audio));
  if (audio == nullptr) return absl::InvalidArgumentError("a transcription needs audio");
  return PluginJob::Start(Handle(), params, std::move(audio));
}

void PluginEngine::Reset() {
  thread_.Check("reset");
  if (functions_.reset == nullptr) return;
  const absl::Status status = CallPlugin(
      "reset", error_, [&](sfl_error* error) { return functions_.reset(engine_, error); });
  if (!status.ok()) log_.Write(EngineLogLevel::kError, status.message());
}

}  // namespace superfluid
