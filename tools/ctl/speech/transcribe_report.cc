#include "tools/ctl/speech/transcribe_report.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/ctl/base/failure.h"
#include "tools/ctl/formats/human_format.h"
#include "tools/ctl/formats/plain_text.h"
#include "tools/ctl/formats/unit_text.h"
#include "tools/ctl/terminal/interruption.h"

namespace superfluid::ctl {
namespace {

std::string CancelledLine(const TranscriptionOutcome& outcome) {
  const linkw::TranscribeStats& stats = outcome.result.stats;
  return absl::StrFormat(
      "cancelled: the worker stopped in %s (%s by its own clock, %s after the cancel)\n",
      DurationText(outcome.figures.cancel.value_or(absl::ZeroDuration())),
      DurationText(absl::Microseconds(stats.cancel_to_stop_us)),
      CountText(stats.steps_after_cancel, "engine step"));
}

}  // namespace

ExitCode TranscribeExitCode(StopReason reason, linkw::Status status) {
  const bool too_late = reason == StopReason::kTimer && status != linkw::Status::kCancelled;
  if (reason == StopReason::kNone || too_late) return RequestFailure("", status, "").code;
  return StopExitCode(reason);
}

std::string ClosingLine(StopReason reason, const TranscriptionOutcome& outcome) {
  if (reason == StopReason::kOutputClosed || reason == StopReason::kLocalFailure) return "";
  if (IsStopByUser(reason) && outcome.status == linkw::Status::kCancelled) {
    return CancelledLine(outcome);
  }
  if (IsStopByUser(reason) && outcome.status == linkw::Status::kOk) {
    return "not cancelled: the worker had finished before the cancel reached it\n";
  }
  if (outcome.status == linkw::Status::kOk) {
    return outcome.message.empty() ? "" : absl::StrCat("note: ", OneLine(outcome.message), "\n");
  }
  return FailureLine(RequestFailure(outcome.file, outcome.status, outcome.message));
}

std::string SummaryLine(const std::string& path, const TranscriptionOutcome& outcome) {
  const std::string factor = RealTimeFactorText(outcome);
  return absl::StrCat(OneLine(path), ": ", CountText(outcome.result.segments.size(), "segment"),
                      outcome.status == linkw::Status::kOk ? "" : " (incomplete)", " from ",
                      TimestampText(TranscribedMs(outcome)), " of audio in ",
                      DurationText(outcome.figures.elapsed), factor.empty() ? "" : ", ", factor,
                      "\n");
}

}  // namespace superfluid::ctl
