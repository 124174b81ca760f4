#ifndef SUPERFLUID_ENGINE_ABI_PLUGIN_STATE_JOB_H_
#define SUPERFLUID_ENGINE_ABI_PLUGIN_STATE_JOB_H_

#include <cstddef>
#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/abi/cancel_gate.h"
#include "engine/abi/export_window.h"
#include "engine/abi/guarded_buffer.h"
#include "engine/abi/plugin_handle.h"
#include "engine/abi/superfluid_engine.h"
#include "engine/state_job.h"

namespace superfluid {

// An export or import inside a plug-in. Threads, lifetime and errors: those of StateJob; a plug-in
// that breaks the C interface's rules makes Step return Internal. Step after an error or kDone is
// FailedPrecondition and does not reach the plug-in.
class PluginStateJob : public StateJob {
 public:
  // Errors: the plug-in's; Internal if it breaks the rules; ResourceExhausted (see ExportWindow).
  static absl::StatusOr<std::unique_ptr<StateJob>> Export(PluginHandle plugin,
                                                          const StateExport& what,
                                                          absl::Span<std::byte> out);
  static absl::StatusOr<std::unique_ptr<StateJob>> Import(PluginHandle plugin,
                                                          const StateImport& what,
                                                          absl::Span<const std::byte> bytes);

  PluginStateJob(const PluginStateJob&) = delete;
  PluginStateJob& operator=(const PluginStateJob&) = delete;
  ~PluginStateJob() override;

  absl::StatusOr<StateJobOutcome> Step(const StepBudget& budget, const CancelToken& token) override;
  uint64_t bytes_moved() const override { return bytes_moved_; }

 private:
  PluginStateJob(PluginHandle plugin, size_t size) : plugin_(plugin), size_(size) {}

  absl::Status Started(absl::string_view call, const absl::Status& status, sfl_state_job* job);
  absl::StatusOr<StateJobOutcome> StepInPlugin(const StepBudget& budget, const CancelToken& token);
  absl::StatusOr<StateJobOutcome> TakeProgress(const sfl_state_progress& progress);
  absl::Status CheckWindow(absl::string_view call) const;

  const PluginHandle plugin_;
  const size_t size_;                   // of the memory given
  std::optional<ExportWindow> window_;  // of an export
  RegisteredGate gate_;
  sfl_state_job* job_ = nullptr;
  uint64_t bytes_moved_ = 0;
  ErrorBuffer error_;
  bool over_ = false;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_ABI_PLUGIN_STATE_JOB_H_
