#include "tools/ctl/generation/generation_report.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "tools/ctl/base/failure.h"
#include "tools/ctl/formats/unit_text.h"
#include "tools/ctl/generation/generation_printer.h"
#include "tools/ctl/terminal/interruption.h"

namespace superfluid::ctl {
namespace {

using linkw::Status;

bool WasCutShort(const GenerationOutcome& outcome) {
  if (outcome.status == Status::kCancelled) return true;
  return std::any_of(outcome.lanes.begin(), outcome.lanes.end(), [](const LaneOutcome& lane) {
    return lane.finish == linkw::FinishReason::kStopped ||
           lane.finish == linkw::FinishReason::kNotFinished;
  });
}

std::string Summary(const GenerationOutcome& outcome, bool wanted) {
  return wanted ? GenerationSummary(outcome) : "";
}

GenerationEnd Stopped(StopReason reason, const GenerationOutcome& outcome, bool summary) {
  if (reason == StopReason::kTimer && !WasCutShort(outcome)) {
    return {ExitCode::kOk, absl::StrCat("not stopped: the worker had finished before\n",
                                        Summary(outcome, summary))};
  }
  const std::string took = DurationText(outcome.stop.value_or(absl::ZeroDuration()));
  return {StopExitCode(reason),
          absl::StrCat("stopped: the worker stopped in ", took, "\n", Summary(outcome, summary))};
}

GenerationEnd Failed(const Failure& failure) { return {failure.code, FailureLine(failure)}; }

}  // namespace

GenerationEnd EndOfGeneration(const std::string& what, StopReason reason,
                              const absl::Status& local_failure, const GenerationOutcome& outcome,
                              bool summary) {
  if (reason == StopReason::kOutputClosed) return {ExitCode::kOutputClosed, ""};
  if (reason == StopReason::kLocalFailure) return Failed(LocalFailure(local_failure));
  const bool cancelled = reason != StopReason::kNone && outcome.status == Status::kCancelled;
  if (outcome.status != Status::kOk && !cancelled) {
    return Failed(RequestFailure(what, outcome.status, outcome.message));
  }
  for (size_t i = 0; i < outcome.lanes.size(); ++i) {
    const LaneOutcome& lane = outcome.lanes[i];
    if (lane.status == Status::kOk) continue;
    return Failed(RequestFailure(absl::StrCat(what, ": lane ", i), lane.status, lane.message));
  }
  if (reason != StopReason::kNone) return Stopped(reason, outcome, summary);
  return {ExitCode::kOk, Summary(outcome, summary)};
}

}  // namespace superfluid::ctl
