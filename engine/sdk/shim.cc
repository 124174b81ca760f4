#include "engine/sdk/shim.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "engine/sdk/host_views.h"
#include "engine/sdk/shim_types.h"

namespace superfluid::sdk {
namespace {

EngineConfig ConfigFromAbi(const sfl_config& raw, const sfl_host& host) {
  EngineConfig config;
  config.model_path = Copied(raw.model_path);
  config.device = raw.device;
  config.threads = raw.threads;
  config.log = HostLogger(host);
  config.on_loading = HostLoading(host);
  for (uint32_t i = 0; i < raw.option_count; ++i) {
    config.options.emplace_back(Copied(raw.options[i].key), Copied(raw.options[i].value));
  }
  return config;
}

TranscriptionParams ParamsFromAbi(const sfl_transcription_params& raw) {
  TranscriptionParams params;
  params.language = Copied(raw.language);
  params.prompt = Copied(raw.prompt);
  params.translate = (raw.flags & SFL_TRANSLATE) != 0;
  params.timestamps = (raw.flags & SFL_TIMESTAMPS) != 0;
  params.partial_results = (raw.flags & SFL_PARTIAL_RESULTS) != 0;
  return params;
}

uint32_t OutcomeToAbi(StepOutcome outcome) {
  switch (outcome) {
    case StepOutcome::kMore:
      return SFL_STEP_MORE;
    case StepOutcome::kWaitingForAudio:
      return SFL_STEP_WAITING_FOR_AUDIO;
    case StepOutcome::kDone:
      break;
  }
  return SFL_STEP_DONE;
}

void FillInfo(Engine& engine, sfl_engine_info& raw) {
  const EngineInfo& info = engine.info();
  raw.max_transcriptions = static_cast<uint32_t>(std::max(info.max_transcriptions, 0));
  raw.max_lanes = static_cast<uint32_t>(std::max(info.max_lanes, 0));
  raw.kv_bits = info.kv_bits;
  raw.generation = engine.generation() != nullptr ? 1 : 0;
  raw.vocab_size = info.vocab_size;
  raw.micro_step_us = absl::ToInt64Microseconds(info.micro_step);
  CopyToArray(info.name, raw.name);
  CopyToArray(info.version, raw.version);
}

void Destroy(sfl_engine* engine) noexcept {
  Guarded(nullptr, [&] {
    delete engine;
    return absl::OkStatus();
  });
}

sfl_status Describe(sfl_engine* engine, sfl_engine_info* info, sfl_output* capabilities,
                    sfl_error* error) noexcept {
  return Guarded(error, [&] {
    FillIn(info, [&](sfl_engine_info& raw) { FillInfo(*engine->engine, raw); });
    FillOutput(engine->engine->CapabilitiesJson(), *capabilities);
    return absl::OkStatus();
  });
}

sfl_status Memory(sfl_engine* engine, sfl_memory* memory, sfl_error* error) noexcept {
  return Guarded(error, [&] {
    const MemoryCounters counters = engine->engine->Memory();
    FillIn(memory, [&](sfl_memory& raw) {
      raw.allocated_bytes = counters.allocated_bytes;
      raw.host_retained_bytes = counters.host_retained_bytes;
      raw.pool_blocks_total = counters.pool_blocks_total;
      raw.pool_blocks_used = counters.pool_blocks_used;
      raw.pool_bytes_evictable = counters.pool_bytes_evictable;
      raw.tentative_bytes = counters.tentative_bytes;
    });
    return absl::OkStatus();
  });
}

sfl_status Reset(sfl_engine* engine, sfl_error* error) noexcept {
  return Guarded(error, [&] {
    engine->engine->Reset();
    return absl::OkStatus();
  });
}

sfl_status Start(sfl_engine* engine, const sfl_transcription_params* params, const sfl_audio* audio,
                 sfl_transcription** job, sfl_error* error) noexcept {
  return Guarded(error, [&]() -> absl::Status {
    auto started = engine->engine->StartTranscription(ParamsFromAbi(CopyIn(params)),
                                                      std::make_unique<HostAudio>(*audio));
    if (!started.ok()) return started.status();
    if (*started == nullptr) return absl::InternalError("the engine returned no transcription");
    *job = std::make_unique<sfl_transcription>(sfl_transcription{*std::move(started)}).release();
    return absl::OkStatus();
  });
}

sfl_status Step(sfl_engine* /*engine*/, sfl_transcription* job, const sfl_step* step,
                uint32_t* outcome, sfl_error* error) noexcept {
  return Guarded(error, [&]() -> absl::Status {
    sfl_step host = CopyIn(step);
    const CancelToken token(&PollHostCancel, &host);
    HostSink sink(host);
    const StepBudget budget{absl::Microseconds(host.budget_us)};
    const absl::StatusOr<StepOutcome> result = job->job->Step(budget, token, sink);
    if (!result.ok()) return result.status();
    if (!sink.status().ok()) return sink.status();
    *outcome = OutcomeToAbi(*result);
    return absl::OkStatus();
  });
}

sfl_status Progress(sfl_engine* /*engine*/, sfl_transcription* job, sfl_progress* progress,
                    sfl_error* error) noexcept {
  return Guarded(error, [&] {
    const TranscriptionProgress known = job->job->Progress();
    FillIn(progress, [&](sfl_progress& raw) {
      raw.audio_ms = known.audio_ms;
      raw.audio_total_ms = known.audio_total_ms;
      CopyToArray(known.language, raw.language);
    });
    return absl::OkStatus();
  });
}

void Free(sfl_engine* /*engine*/, sfl_transcription* job) noexcept {
  Guarded(nullptr, [&] {
    delete job;
    return absl::OkStatus();
  });
}

}  // namespace

sfl_status CreateEngine(EngineFactory factory, const sfl_config* config, const sfl_host* host,
                        sfl_engine** engine, sfl_error* error) noexcept {
  return Guarded(error, [&]() -> absl::Status {
    auto made = factory(ConfigFromAbi(CopyIn(config), CopyIn(host)));
    if (!made.ok()) return made.status();
    if (*made == nullptr) return absl::InternalError("the factory returned no engine");
    *engine = std::make_unique<sfl_engine>(sfl_engine{*std::move(made)}).release();
    return absl::OkStatus();
  });
}

sfl_engine_vtable TableWithoutCreate() noexcept {
  sfl_engine_vtable table = {};
  table.struct_size = sizeof table;
  table.abi_version = SFL_ABI_VERSION;
  table.destroy = &Destroy;
  table.describe = &Describe;
  table.memory = &Memory;
  table.reset = &Reset;
  table.transcription_start = &Start;
  table.transcription_step = &Step;
  table.transcription_progress = &Progress;
  table.transcription_free = &Free;
  AddTicks(table);
  AddSequences(table);
  AddState(table);
  AddCache(table);
  AddModel(table);
  AddStrategies(table);
  return table;
}

}  // namespace superfluid::sdk
