#include "engine/whisper/whisper_engine.h"

#include <malloc.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "engine/compute_threads.h"
#include "engine/whisper/language.h"
#include "engine/whisper/library_log.h"
#include "engine/whisper/model_file.h"
#include "engine/whisper/options.h"
#include "engine/whisper/state_pool.h"
#include "engine/whisper/vad_pool.h"
#include "engine/whisper/whisper_job.h"
#include "engine/whisper/whisper_model.h"

namespace superfluid {
namespace {

constexpr absl::Duration kLeastMicroStep = absl::Milliseconds(20);
constexpr absl::Duration kMostMicroStep = absl::Seconds(60);
// Transcriptions that may be open for each that may be decoded: live ones mostly wait for audio.
constexpr int kJobsPerState = 16;

// Counts what was asked for, and so more than is resident: ggml's schedulers alone ask for some 80
// MB each that they hardly touch.
uint64_t HeapBytes() {
  const struct mallinfo2 heap = mallinfo2();
  return heap.uordblks + heap.hblkhd;
}

class WhisperEngine : public Engine {
 public:
  WhisperEngine(std::unique_ptr<LibraryLog> log, WhisperContext context, WhisperParts parts,
                std::string device)
      : log_(std::move(log)),
        context_(std::move(context)),
        states_(context_.get()),
        voice_activity_(parts.options.vad_model, log_.get()),
        parts_(std::move(parts)),
        device_(std::move(device)) {
    parts_.context = context_.get();
    parts_.log = log_.get();
    parts_.states = &states_;
    parts_.voice_activity = &voice_activity_;
    info_.name = "whisper";
    info_.version = LibraryVersion();
    info_.max_transcriptions = kJobsPerState * parts_.options.states;
  }

  // Makes the first state and, if there is one, voice activity model: what fails is better known at
  // once.
  absl::Status WarmUp() {
    log_->TakeStateBytes();
    const uint64_t before = HeapBytes();
    absl::StatusOr<std::unique_ptr<LibraryState>> state = states_.Take();
    if (!state.ok()) return state.status();
    const uint64_t after = HeapBytes();
    state_bytes_ = log_->TakeStateBytes();
    if (state_bytes_ == 0 && after > before) state_bytes_ = after - before;
    if (voice_activity_.has_model()) {
      absl::StatusOr<std::unique_ptr<VoiceActivity>> activity = voice_activity_.Take();
      if (!activity.ok()) return activity.status();
      voice_activity_.GiveBack(*std::move(activity));
    }
    log_->EndLoading();
    const absl::Duration encode =
        EstimateEncode(context_.get(), (*state)->get(), parts_.threads.most());
    info_.micro_step = std::clamp(encode, kLeastMicroStep, kMostMicroStep);
    stops_inside_ = (*state)->stops_inside();
    states_.GiveBack(*std::move(state), /*as_new=*/true);
    return absl::OkStatus();
  }

  const EngineInfo& info() const override { return info_; }

  std::string CapabilitiesJson() const override {
    const WhisperModelFile& model = parts_.model;
    const nlohmann::json capabilities = {
        {"engine", info_.name},
        {"version", info_.version},
        {"model", model.name},
        {"weights", model.weights},
        {"device", device_.empty() ? "cpu" : device_},
        {"threads", parts_.threads.most()},
        {"stops_inside_a_step", stops_inside_},
        {"calls", {"transcribe"}},
        {"max_transcriptions", parts_.options.states},
        {"transcribe",
         {{"languages", LanguagesOf(model)},
          {"detects_language", model.multilingual()},
          {"translate", true},
          {"translate_from", LanguagesOf(model)},
          {"streaming", true},
          {"live_audio", true},
          {"partial_results", true},
          {"word_times", true},
          {"word_probabilities", true},
          {"prompt", true},
          {"voice_activity", voice_activity_.has_model()},
          {"max_transcriptions", parts_.options.states},
          {"max_segment_ms", 30'000}}},
    };
    return capabilities.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }

  // The weights and the buffers of the states that exist: in a run, or kept for the next one. One
  // that StatePool has freed takes nothing until it is made anew. Buffers count in full although
  // the system gives memory only for what is touched, so less is resident at first. Not counted:
  // the voice activity models, and what more than one candidate adds while a job runs.
  MemoryCounters Memory() const override {
    MemoryCounters counters;
    counters.allocated_bytes =
        parts_.model.bytes + state_bytes_ * static_cast<uint64_t>(states_.count());
    counters.pool_blocks_total = static_cast<uint64_t>(parts_.options.states);
    counters.pool_blocks_used = static_cast<uint64_t>(states_.taken());
    return counters;
  }

  absl::StatusOr<std::unique_ptr<TranscriptionJob>> StartTranscription(
      const TranscriptionParams& params, std::unique_ptr<AudioSource> audio) override {
    if (audio == nullptr) return absl::InvalidArgumentError("there is no audio to transcribe");
    absl::StatusOr<std::string> language = ResolveLanguage(params.language, parts_.model);
    if (!language.ok()) return language.status();
    if (parts_.open_jobs >= info_.max_transcriptions) {
      return absl::ResourceExhaustedError(
          absl::StrCat("all ", info_.max_transcriptions,
                       " transcriptions that the engine has room for are in progress"));
    }
    parts_.threads.Begin();
    return std::make_unique<WhisperJob>(&parts_, params, *std::move(language), std::move(audio));
  }

 private:
  std::unique_ptr<LibraryLog> log_;
  WhisperContext context_;
  StatePool states_;
  VadPool voice_activity_;
  WhisperParts parts_;
  std::string device_;
  EngineInfo info_;
  uint64_t state_bytes_ = 0;  // of one state
  bool stops_inside_ = false;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Engine>> MakeWhisperEngine(const EngineConfig& config) {
  if (AsksForHelp(config.options)) {
    return SayHelp(WhisperOptionTable().engine(), WhisperOptionTable().Rows(),
                   [&config](absl::string_view line) {
                     if (config.log) config.log(EngineLogLevel::kInfo, line);
                   });
  }
  if (absl::Status status = CheckProcessor(); !status.ok()) return status;
  WhisperParts parts;
  absl::StatusOr<WhisperOptions> options = ParseWhisperOptions(config.options);
  if (!options.ok()) return options.status();
  if (config.model_path.empty()) {
    return absl::InvalidArgumentError("the whisper engine needs a model file (--model)");
  }
  absl::StatusOr<WhisperModelFile> model = CheckWhisperModel(config.model_path);
  if (!model.ok()) return model.status();
  if (!options->vad_model.empty()) {
    if (absl::Status status = CheckVadModel(options->vad_model); !status.ok()) return status;
  }
  auto log = std::make_unique<LibraryLog>(config.log);
  LoadBackends(options->backends);
  absl::StatusOr<std::string> device = ChooseDevice(*options, config.device);
  if (!device.ok()) return device.status();
  absl::StatusOr<WhisperContext> context = LoadContext(config, *options, !device->empty(), *log);
  if (!context.ok()) return context.status();
  parts.model = *std::move(model);
  parts.options = *std::move(options);
  const ThreadLimit limit = LimitThreads(config.threads);
  if (!limit.warning.empty() && config.log != nullptr) {
    config.log(EngineLogLevel::kWarning, limit.warning);
  }
  parts.threads = ThreadChoice(limit.threads);
  auto engine = std::make_unique<WhisperEngine>(std::move(log), *std::move(context),
                                                std::move(parts), *std::move(device));
  if (absl::Status status = engine->WarmUp(); !status.ok()) return status;
  return engine;
}

}  // namespace superfluid
