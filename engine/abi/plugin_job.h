#ifndef SUPERFLUID_ENGINE_ABI_PLUGIN_JOB_H_
#define SUPERFLUID_ENGINE_ABI_PLUGIN_JOB_H_

#include <memory>

#include "absl/status/statusor.h"
#include "engine/abi/guarded_buffer.h"
#include "engine/abi/job_port.h"
#include "engine/abi/plugin_handle.h"
#include "engine/abi/superfluid_engine.h"
#include "engine/transcription.h"

namespace superfluid {

// A transcription inside a plug-in. Threads, lifetime and errors: those of TranscriptionJob; a
// plug-in that breaks the C interface's rules makes Step return Internal. Step after an error or
// kDone is FailedPrecondition and does not reach the plug-in.
class PluginJob : public TranscriptionJob {
 public:
  // Errors: the plug-in's; Internal if it breaks the rules.
  static absl::StatusOr<std::unique_ptr<TranscriptionJob>> Start(
      PluginHandle plugin, const TranscriptionParams& params, std::unique_ptr<AudioSource> audio);

  PluginJob(const PluginJob&) = delete;
  PluginJob& operator=(const PluginJob&) = delete;
  ~PluginJob() override;

  absl::StatusOr<StepOutcome> Step(const StepBudget& budget, const CancelToken& token,
                                   SegmentSink& sink) override;
  TranscriptionProgress Progress() const override;

 private:
  PluginJob(PluginHandle plugin, std::unique_ptr<AudioSource> audio);

  absl::Status StartInPlugin(const TranscriptionParams& params);
  absl::StatusOr<StepOutcome> StepInPlugin(const StepBudget& budget, const CancelToken& token,
                                           SegmentSink& sink);
  void ReportRepairs();

  const PluginHandle plugin_;
  RegisteredPort registered_;
  sfl_audio audio_;
  sfl_transcription* job_ = nullptr;
  mutable ErrorBuffer error_;
  bool over_ = false;
  bool repairs_reported_ = false;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_ABI_PLUGIN_JOB_H_
