#include "engine/sdk/shim.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "engine/abi/status_codes.h"
#include "engine/sdk/host_views.h"

// The opaque types of the C interface, as this kind of plug-in has them.
struct sfl_engine {
  std::unique_ptr<superfluid::Engine> engine;
};

struct sfl_transcription {
  std::unique_ptr<superfluid::TranscriptionJob> job;
};

namespace superfluid::sdk {
namespace {

// Runs `body`, a function returning Status; nothing it throws gets out.
template <typename Body>
sfl_status Guarded(sfl_error* error, Body&& body) noexcept {
  try {
    try {
      return StatusToAbi(body(), error);
    } catch (...) {
      return StatusToAbi(StatusFromCurrentException("the engine"), error);
    }
  } catch (...) {
    // Not even memory for the message.
    return SFL_RESOURCE_EXHAUSTED;
  }
}

std::string Copied(sfl_string text) {
  return text.data == nullptr ? std::string() : std::string(text.data, text.size);
}

// Copies `text` into a fixed array, cut to fit and NUL-terminated.
template <size_t Capacity>
void CopyToArray(absl::string_view text, char (&array)[Capacity]) {
  const size_t size = std::min(text.size(), Capacity - 1);
  std::memcpy(array, text.data(), size);
  array[size] = '\0';
}

EngineConfig ConfigFromAbi(const sfl_config& raw, const sfl_host& host) {
  EngineConfig config;
  config.model_path = Copied(raw.model_path);
  config.device = raw.device;
  config.threads = raw.threads;
  config.log = HostLogger(host);
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

void FillInfo(const EngineInfo& info, sfl_engine_info& raw) {
  raw.max_transcriptions = static_cast<uint32_t>(std::max(info.max_transcriptions, 0));
  raw.max_lanes = static_cast<uint32_t>(std::max(info.max_lanes, 0));
  raw.kv_bits = info.kv_bits;
  raw.micro_step_us = absl::ToInt64Microseconds(info.micro_step);
  CopyToArray(info.name, raw.name);
  CopyToArray(info.version, raw.version);
}

void FillOutput(absl::string_view text, sfl_output& output) {
  const size_t size = std::min(text.size(), output.capacity);
  if (output.data != nullptr && size > 0) std::memcpy(output.data, text.data(), size);
  output.size = text.size();
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
    FillInfo(engine->engine->info(), *info);
    FillOutput(engine->engine->CapabilitiesJson(), *capabilities);
    return absl::OkStatus();
  });
}

sfl_status Memory(sfl_engine* engine, sfl_memory* memory, sfl_error* error) noexcept {
  return Guarded(error, [&] {
    const MemoryCounters counters = engine->engine->Memory();
    memory->allocated_bytes = counters.allocated_bytes;
    memory->host_retained_bytes = counters.host_retained_bytes;
    memory->pool_blocks_total = counters.pool_blocks_total;
    memory->pool_blocks_used = counters.pool_blocks_used;
    memory->pool_bytes_evictable = counters.pool_bytes_evictable;
    memory->tentative_bytes = counters.tentative_bytes;
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
    auto started = engine->engine->StartTranscription(ParamsFromAbi(*params),
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
    sfl_step host = *step;
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
    progress->audio_ms = known.audio_ms;
    progress->audio_total_ms = known.audio_total_ms;
    CopyToArray(known.language, progress->language);
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
    auto made = factory(ConfigFromAbi(*config, *host));
    if (!made.ok()) return made.status();
    if (*made == nullptr) return absl::InternalError("the factory returned no engine");
    *engine = std::make_unique<sfl_engine>(sfl_engine{*std::move(made)}).release();
    return absl::OkStatus();
  });
}

sfl_engine_vtable TableWithoutCreate() noexcept {
  return {sizeof(sfl_engine_vtable),
          SFL_ABI_VERSION,
          nullptr,
          &Destroy,
          &Describe,
          &Memory,
          &Reset,
          &Start,
          &Step,
          &Progress,
          &Free};
}

}  // namespace superfluid::sdk
