#include "engine/abi/plugin_job.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "engine/abi/plugin_call.h"
#include "engine/abi/text.h"

namespace superfluid {
namespace {

// No outcome; seen if the plug-in forgot to set one.
constexpr uint32_t kNoOutcome = ~0U;

absl::StatusOr<StepOutcome> OutcomeFromAbi(uint32_t outcome) {
  switch (outcome) {
    case SFL_STEP_MORE:
      return StepOutcome::kMore;
    case SFL_STEP_WAITING_FOR_AUDIO:
      return StepOutcome::kWaitingForAudio;
    case SFL_STEP_DONE:
      return StepOutcome::kDone;
    default:
      return absl::InternalError(
          absl::StrCat("transcription_step: the engine set no known outcome (", outcome, ")"));
  }
}

uint32_t AbiFlags(const TranscriptionParams& params) {
  uint32_t flags = 0;
  if (params.translate) flags |= SFL_TRANSLATE;
  if (params.timestamps) flags |= SFL_TIMESTAMPS;
  if (params.partial_results) flags |= SFL_PARTIAL_RESULTS;
  return flags;
}

// Closes the port on every way out of a call.
class OpenPort {
 public:
  OpenPort(JobPort& port, const CancelToken* token, SegmentSink* sink) : port_(port) {
    port_.OpenCall(token, sink);
  }
  OpenPort(const OpenPort&) = delete;
  OpenPort& operator=(const OpenPort&) = delete;
  ~OpenPort() { port_.CloseCall(); }

 private:
  JobPort& port_;
};

}  // namespace

PluginJob::PluginJob(PluginHandle plugin, std::unique_ptr<AudioSource> audio)
    : plugin_(plugin), registered_(std::move(audio)), audio_(registered_.AbiAudio()) {}

absl::StatusOr<std::unique_ptr<TranscriptionJob>> PluginJob::Start(
    PluginHandle plugin, const TranscriptionParams& params, std::unique_ptr<AudioSource> audio) {
  std::unique_ptr<PluginJob> job(new PluginJob(plugin, std::move(audio)));
  if (absl::Status status = job->StartInPlugin(params); !status.ok()) return status;
  return job;
}

absl::Status PluginJob::StartInPlugin(const TranscriptionParams& params) {
  const sfl_transcription_params abi_params = {sizeof(sfl_transcription_params), AbiFlags(params),
                                               AbiString(params.language),
                                               AbiString(params.prompt)};
  sfl_transcription* job = nullptr;
  const OpenPort open(registered_.port(), nullptr, nullptr);
  absl::Status status = CallPlugin("transcription_start", error_, [&](sfl_error* error) {
    return plugin_.functions->transcription_start(plugin_.engine, &abi_params, &audio_, &job,
                                                  error);
  });
  if (!status.ok()) return status;
  if (job == nullptr) {
    return absl::InternalError("transcription_start: the engine returned no transcription");
  }
  job_ = job;
  return absl::OkStatus();
}

PluginJob::~PluginJob() {
  plugin_.thread->Check("transcription_free");
  if (job_ == nullptr) return;
  const absl::Status status = CallPlugin("transcription_free", error_, [&](sfl_error*) {
    plugin_.functions->transcription_free(plugin_.engine, job_);
    return sfl_status{SFL_OK};
  });
  if (!status.ok()) plugin_.log->Write(EngineLogLevel::kError, status.message());
}

absl::StatusOr<StepOutcome> PluginJob::Step(const StepBudget& budget, const CancelToken& token,
                                            SegmentSink& sink) {
  plugin_.thread->Check("transcription_step");
  if (over_) return absl::FailedPreconditionError("the transcription is over");
  const auto began = std::chrono::steady_clock::now();
  absl::StatusOr<StepOutcome> outcome = StepInPlugin(budget, token, sink);
  plugin_.slow_steps->Add(absl::FromChrono(std::chrono::steady_clock::now() - began),
                          registered_.port().asked_whether_cancelled());
  over_ = !outcome.ok() || *outcome == StepOutcome::kDone;
  ReportRepairs();
  return outcome;
}

absl::StatusOr<StepOutcome> PluginJob::StepInPlugin(const StepBudget& budget,
                                                    const CancelToken& token, SegmentSink& sink) {
  const sfl_step step = registered_.AbiStep(budget);
  uint32_t outcome = kNoOutcome;
  const OpenPort open(registered_.port(), &token, &sink);
  const absl::Status status = CallPlugin("transcription_step", error_, [&](sfl_error* error) {
    return plugin_.functions->transcription_step(plugin_.engine, job_, &step, &outcome, error);
  });
  if (!registered_.port().host_failure().ok()) return registered_.port().host_failure();
  if (absl::IsCancelled(status) && !token.cancelled()) {
    return absl::InternalError("transcription_step: the engine cancelled what nobody cancelled");
  }
  if (!status.ok()) return status;
  return OutcomeFromAbi(outcome);
}

void PluginJob::ReportRepairs() {
  if (repairs_reported_ || registered_.port().segments_repaired() == 0) return;
  repairs_reported_ = true;
  plugin_.log->Write(EngineLogLevel::kWarning,
                     "the engine's segments break their promises (times, numbers or UTF-8); they "
                     "were repaired");
}

TranscriptionProgress PluginJob::Progress() const {
  plugin_.thread->Check("transcription_progress");
  sfl_progress raw = {};
  raw.struct_size = sizeof raw;
  const absl::Status status = CallPlugin("transcription_progress", error_, [&](sfl_error* error) {
    return plugin_.functions->transcription_progress(plugin_.engine, job_, &raw, error);
  });
  if (!status.ok()) return {};
  TranscriptionProgress progress;
  progress.language = ValidUtf8(TextOfArray(raw.language, sizeof raw.language));
  progress.audio_ms = std::max<int64_t>(raw.audio_ms, 0);
  progress.audio_total_ms = std::max<int64_t>(raw.audio_total_ms, 0);
  return progress;
}

}  // namespace superfluid
