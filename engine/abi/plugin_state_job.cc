#include "engine/abi/plugin_state_job.h"

#include <string>
#include <utility>

#include "absl/time/time.h"
#include "engine/abi/guarded_value.h"
#include "engine/abi/plugin_call.h"
#include "engine/abi/state_spaces.h"

namespace superfluid {
namespace {

sfl_state_range RangeToAbi(SequenceHandle sequence, SpaceId space, TokenRange range,
                           uint32_t encoding) {
  return {sizeof(sfl_state_range),
          static_cast<uint32_t>(space),
          static_cast<uint64_t>(sequence),
          range.start,
          range.end,
          encoding,
          0};
}

sfl_state_export ToAbi(const StateExport& what) {
  return {sizeof(sfl_state_export),
          what.free_device_copy ? uint32_t{SFL_EXPORT_FREE_DEVICE_COPY} : 0U,
          RangeToAbi(what.sequence, what.space, what.range, what.encoding)};
}

sfl_state_import ToAbi(const StateImport& what) {
  return {sizeof(sfl_state_import), what.replace ? uint32_t{SFL_IMPORT_REPLACE} : 0U,
          RangeToAbi(what.sequence, what.space, what.range, what.encoding),
          DigestToAbi(what.provenance)};
}

// Closes the gate on every way out of a step.
class OpenGate {
 public:
  OpenGate(CancelGate& gate, const CancelToken& token) : gate_(gate) { gate_.Open(&token); }
  OpenGate(const OpenGate&) = delete;
  OpenGate& operator=(const OpenGate&) = delete;
  ~OpenGate() { gate_.Close(); }

 private:
  CancelGate& gate_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<StateJob>> PluginStateJob::Export(PluginHandle plugin,
                                                                 const StateExport& what,
                                                                 absl::Span<std::byte> out) {
  std::unique_ptr<PluginStateJob> job(new PluginStateJob(plugin, out.size()));
  absl::StatusOr<ExportWindow> window = ExportWindow::Open(out);
  if (!window.ok()) return window.status();
  job->window_.emplace(*std::move(window));
  const sfl_state_export abi_what = ToAbi(what);
  sfl_state_job* made = nullptr;
  const absl::Status status = CallPlugin("export_start", job->error_, [&](sfl_error* error) {
    return plugin.functions->export_start(plugin.engine, &abi_what, job->window_->data(),
                                          out.size(), &made, error);
  });
  if (absl::Status started = job->Started("export_start", status, made); !started.ok()) {
    return started;
  }
  return job;
}

absl::StatusOr<std::unique_ptr<StateJob>> PluginStateJob::Import(
    PluginHandle plugin, const StateImport& what, absl::Span<const std::byte> bytes) {
  std::unique_ptr<PluginStateJob> job(new PluginStateJob(plugin, bytes.size()));
  const sfl_state_import abi_what = ToAbi(what);
  sfl_state_job* made = nullptr;
  const absl::Status status = CallPlugin("import_start", job->error_, [&](sfl_error* error) {
    return plugin.functions->import_start(plugin.engine, &abi_what, bytes.data(), bytes.size(),
                                          &made, error);
  });
  if (absl::Status started = job->Started("import_start", status, made); !started.ok()) {
    return started;
  }
  return job;
}

absl::Status PluginStateJob::Started(absl::string_view call, const absl::Status& status,
                                     sfl_state_job* job) {
  if (!status.ok()) return status;
  if (job == nullptr) return BrokenRule(call, "returned no job");
  job_ = job;
  return CheckWindow(call);
}

PluginStateJob::~PluginStateJob() {
  plugin_.thread->Check("state_free");
  if (job_ == nullptr) return;
  const absl::Status status = CallPlugin("state_free", error_, [&](sfl_error*) {
    plugin_.functions->state_free(plugin_.engine, job_);
    return sfl_status{SFL_OK};
  });
  if (!status.ok()) plugin_.log->Write(EngineLogLevel::kError, status.message());
}

absl::StatusOr<StateJobOutcome> PluginStateJob::Step(const StepBudget& budget,
                                                     const CancelToken& token) {
  plugin_.thread->Check("state_step");
  if (over_) return absl::FailedPreconditionError("the state job is over");
  absl::StatusOr<StateJobOutcome> outcome = StepInPlugin(budget, token);
  over_ = !outcome.ok() || *outcome == StateJobOutcome::kDone;
  if (outcome.ok() && *outcome == StateJobOutcome::kDone && window_.has_value()) {
    window_->Finish();
  }
  return outcome;
}

absl::StatusOr<StateJobOutcome> PluginStateJob::StepInPlugin(const StepBudget& budget,
                                                             const CancelToken& token) {
  const sfl_state_step step = {sizeof(sfl_state_step), 0, absl::ToInt64Microseconds(budget.target),
                               gate_.user(), &RegisteredGate::Cancelled};
  sfl_state_progress unset = {};
  unset.outcome = SFL_STATE_UNSET;
  unset.bytes_moved = bytes_moved_;
  GuardedValue<sfl_state_progress> progress(unset);
  const OpenGate open(gate_.gate(), token);
  const absl::Status status = CallPlugin("state_step", error_, [&](sfl_error* error) {
    return plugin_.functions->state_step(plugin_.engine, job_, &step, progress.get(), error);
  });
  if (!progress.intact()) return WrotePastTheEnd("state_step");
  if (absl::Status window = CheckWindow("state_step"); !window.ok()) return window;
  if (absl::IsCancelled(status) && !token.cancelled()) {
    return BrokenRule("state_step", "cancelled what nobody cancelled");
  }
  if (!status.ok()) return status;
  return TakeProgress(progress.value());
}

absl::StatusOr<StateJobOutcome> PluginStateJob::TakeProgress(const sfl_state_progress& progress) {
  if (progress.bytes_moved > size_) {
    return BrokenRule("state_step", "claims to have moved ", progress.bytes_moved, " of ", size_,
                      " bytes");
  }
  if (progress.bytes_moved < bytes_moved_) {
    return BrokenRule("state_step", "moved ", progress.bytes_moved, " bytes after ", bytes_moved_);
  }
  bytes_moved_ = progress.bytes_moved;
  switch (progress.outcome) {
    case SFL_STATE_MORE:
      return StateJobOutcome::kMore;
    case SFL_STATE_WAITING:
      return StateJobOutcome::kWaiting;
    case SFL_STATE_DONE:
      return StateJobOutcome::kDone;
    default:
      return BrokenRule("state_step", "set no known outcome (", progress.outcome, ")");
  }
}

absl::Status PluginStateJob::CheckWindow(absl::string_view call) const {
  if (!window_.has_value() || window_->intact()) return absl::OkStatus();
  return BrokenRule(call, "wrote outside of the memory of its export");
}

}  // namespace superfluid
