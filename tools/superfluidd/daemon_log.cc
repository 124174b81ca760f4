#include "tools/superfluidd/daemon_log.h"

#include <unistd.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "protocol/messages/status.h"
#include "tools/ctl/formats/json_text.h"

namespace superfluid::daemon {
namespace {

using ctl::Json;

constexpr size_t kQueueBytes = size_t{1} << 20;
constexpr absl::Duration kFlushPatience = absl::Seconds(1);
constexpr absl::string_view kTimeFormat = "%Y-%m-%dT%H:%M:%E6SZ";

std::string Now() { return absl::FormatTime(kTimeFormat, absl::Now(), absl::UTCTimeZone()); }

Json Ms(absl::Duration duration) { return ctl::JsonMs(duration); }

}  // namespace

DaemonLog::DaemonLog(LogFormat events)
    : format_(events),
      events_(STDERR_FILENO, kQueueBytes, {.format = events, .worker = {}}),
      access_(STDOUT_FILENO, kQueueBytes, {.format = LogFormat::kJson, .worker = {}}) {}

void DaemonLog::Event(const char* event, const std::string& details) {
  std::string line =
      absl::StrCat(Now(), " info ", event, details.empty() ? "" : " ", details, "\n");
  events_.Write(format_ == LogFormat::kJson ? ToJsonLine(line) : std::move(line));
}

void DaemonLog::Access(const AccessRecord& record, const std::string& tenant) {
  const TraceContext& trace = record.head->trace;
  Json line = {{"time", Now()},
               {"event", "http"},
               {"id", record.head->request_id},
               {"trace_id", trace.trace_id},
               {"span_id", trace.span_id},
               {"peer", record.head->peer},
               {"key", tenant},
               {"method", record.head->method},
               {"path", std::string(record.head->path())},
               {"status", record.status},
               {"hung_up", record.hung_up},
               {"bytes_in", record.bytes_in},
               {"bytes_out", record.bytes_out},
               {"ms", Ms(record.duration)}};
  if (!trace.parent_id.empty()) line["parent_span_id"] = trace.parent_id;
  access_.Write(ctl::JsonLine(line));
}

void DaemonLog::Request(const SpeechRequest& request, const RequestOutcome& outcome) {
  const RequestFigures& figures = outcome.figures;
  Json line = {{"time", Now()},
               {"event", "request"},
               {"id", request.id},
               {"trace_id", request.trace_id},
               {"span_id", request.span_id},
               {"key", request.tenant},
               {"model", request.model},
               {"worker", figures.worker},
               {"status", std::string(linkw::StatusName(outcome.status))},
               {"attempts", figures.attempts},
               {"queue_ms", Ms(figures.queued)},
               {"total_ms", Ms(figures.total)},
               {"audio_ms", outcome.result.duration_ms},
               {"engine_steps", outcome.result.stats.engine_steps},
               {"engine_ms", static_cast<double>(outcome.result.stats.engine_us) / 1000}};
  if (figures.first_segment.has_value()) line["first_segment_ms"] = Ms(*figures.first_segment);
  if (figures.cause.has_value()) {
    line["cancelled_by"] = std::string(CancelCauseName(*figures.cause));
    line["cancel_ms"] = Ms(figures.cancel.value_or(absl::ZeroDuration()));
    line["steps_after_cancel"] = outcome.result.stats.steps_after_cancel;
  }
  access_.Write(ctl::JsonLine(line));
}

void DaemonLog::Flush() {
  events_.Flush(kFlushPatience);
  access_.Flush(kFlushPatience);
}

}  // namespace superfluid::daemon
