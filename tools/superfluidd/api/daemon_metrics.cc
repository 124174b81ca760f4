#include "tools/superfluidd/api/daemon_metrics.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace superfluid::daemon {
namespace {

constexpr const char* kPrefix = "superfluidd_";

std::string Escape(const std::string& value) {
  return absl::StrReplaceAll(value, {{"\\", "\\\\"}, {"\"", "\\\""}, {"\n", "\\n"}});
}

std::string Label(const char* name, const std::string& value) {
  return absl::StrCat(name, "=\"", Escape(value), "\"");
}

// Writes the families, one after the other, each with its samples.
class Writer {
 public:
  explicit Writer(std::string& text) : text_(text) {}

  void Family(const char* name, const char* type, const char* help) {
    name_ = absl::StrCat(kPrefix, name);
    suffix_ = std::string(type) == "counter" ? "_total" : "";
    absl::StrAppend(&text_, "# TYPE ", name_, " ", type, "\n# HELP ", name_, " ", help, "\n");
  }
  template <class Number>
  void Sample(const std::string& labels, Number value) {
    absl::StrAppend(&text_, name_, suffix_);
    if (!labels.empty()) absl::StrAppend(&text_, "{", labels, "}");
    absl::StrAppend(&text_, " ", value, "\n");
  }
  void Distribution(const Histogram& histogram) { histogram.Write(name_, text_); }

 private:
  std::string& text_;
  std::string name_;
  const char* suffix_ = "";
};

template <class Get>
void PerWorker(Writer& writer, const FleetView& view, Get get) {
  for (const WorkerView& worker : view.workers) {
    writer.Sample(Label("worker", worker.name) + "," + Label("model", worker.model), get(worker));
  }
}

void WriteFleet(Writer& writer, const FleetView& view) {
  writer.Family("queued_requests", "gauge", "Requests that wait for a worker.");
  writer.Sample("", view.queued);
  writer.Family("active_requests", "gauge", "Requests that a worker has.");
  writer.Sample("", view.active);
  writer.Family("worker_ready", "gauge", "1 if the worker takes requests.");
  PerWorker(writer, view, [](const WorkerView& w) { return w.state == "ready" ? 1 : 0; });
  writer.Family("worker_stalled", "gauge", "1 if the engine is inside one step for too long.");
  PerWorker(writer, view, [](const WorkerView& w) { return w.state == "stalled" ? 1 : 0; });
  writer.Family("worker_places", "gauge", "Requests that the worker takes at once.");
  PerWorker(writer, view, [](const WorkerView& w) { return w.places; });
  writer.Family("worker_active", "gauge", "Requests that the worker has.");
  PerWorker(writer, view, [](const WorkerView& w) { return w.active; });
  writer.Family("worker_restarts", "counter", "Times that the worker was started again.");
  PerWorker(writer, view, [](const WorkerView& w) { return w.restarts; });
  writer.Family("worker_engine_steps", "counter", "Micro-steps of the engine since its start.");
  PerWorker(writer, view, [](const WorkerView& w) { return w.pong.engine_steps; });
  writer.Family("worker_engine_busy_seconds", "counter", "Time inside steps since its start.");
  PerWorker(writer, view,
            [](const WorkerView& w) { return static_cast<double>(w.pong.engine_busy_us) / 1e6; });
  writer.Family("worker_memory_bytes", "gauge", "Memory that the engine has allocated.");
  PerWorker(writer, view, [](const WorkerView& w) { return w.pong.mem.allocated_bytes; });
}

}  // namespace

void Histogram::Observe(double value) {
  const auto bound = std::lower_bound(bounds_.begin(), bounds_.end(), value);
  ++counts_[static_cast<size_t>(bound - bounds_.begin())];
  sum_ += value;
}

void Histogram::Write(const std::string& name, std::string& text) const {
  uint64_t below = 0;
  for (size_t i = 0; i < bounds_.size(); ++i) {
    below += counts_[i];
    absl::StrAppend(&text, name, "_bucket{le=\"", bounds_[i], "\"} ", below, "\n");
  }
  below += counts_.back();
  absl::StrAppend(&text, name, "_bucket{le=\"+Inf\"} ", below, "\n", name, "_sum ", sum_, "\n",
                  name, "_count ", below, "\n");
}

void DaemonMetrics::OnRequestEnded(const SpeechRequest& request, const RequestOutcome& outcome) {
  const RequestFigures& figures = outcome.figures;
  const std::lock_guard lock(mutex_);
  ++requests_[{request.model, std::string(linkw::StatusName(outcome.status))}];
  if (figures.attempts > 1) retries_ += figures.attempts - 1;
  if (figures.attempts > 0) queue_.Observe(absl::ToDoubleSeconds(figures.queued));
  total_.Observe(absl::ToDoubleSeconds(figures.total));
  if (figures.first_segment.has_value()) {
    first_segment_.Observe(absl::ToDoubleSeconds(*figures.first_segment));
  }
  if (figures.cause.has_value()) {
    ++cancelled_[std::string(CancelCauseName(*figures.cause))];
    cancel_.Observe(absl::ToDoubleSeconds(figures.cancel.value_or(absl::ZeroDuration())));
    steps_after_cancel_ += outcome.result.stats.steps_after_cancel;
  }
  const double audio = static_cast<double>(outcome.result.duration_ms) / 1000;
  audio_seconds_ += audio;
  if (outcome.status == linkw::Status::kOk && audio > 0) {
    real_time_factor_.Observe(absl::ToDoubleSeconds(figures.total - figures.queued) / audio);
  }
}

void DaemonMetrics::OnHttpFinished(const AccessRecord& record) {
  const std::lock_guard lock(mutex_);
  ++responses_[record.status];
  if (record.hung_up) ++hang_ups_;
  body_bytes_ += record.bytes_in;
}

std::string DaemonMetrics::Text(const FleetView& view, uint64_t upload_bytes) const {
  std::string text;
  Writer writer(text);
  WriteFleet(writer, view);
  writer.Family("upload_memory_bytes", "gauge", "Memory that uploads take.");
  writer.Sample("", upload_bytes);
  const std::lock_guard lock(mutex_);
  writer.Family("requests", "counter", "Transcriptions that ended, by their status.");
  for (const auto& [labels, count] : requests_) {
    writer.Sample(Label("model", labels.first) + "," + Label("status", labels.second), count);
  }
  writer.Family("cancelled_requests", "counter", "Transcriptions that were cancelled.");
  for (const auto& [cause, count] : cancelled_) writer.Sample(Label("cause", cause), count);
  writer.Family("retries", "counter", "Times that a request was given to another worker.");
  writer.Sample("", retries_);
  writer.Family("steps_after_cancel", "counter", "Engine steps begun after a cancel: 0.");
  writer.Sample("", steps_after_cancel_);
  writer.Family("audio_seconds", "counter", "Audio that was transcribed.");
  writer.Sample("", audio_seconds_);
  writer.Family("http_responses", "counter", "Responses; 499: the client had gone before.");
  for (const auto& [status, count] : responses_) {
    writer.Sample(Label("status", std::to_string(status)), count);
  }
  writer.Family("http_hang_ups", "counter",
                "Clients that went before their response was complete.");
  writer.Sample("", hang_ups_);
  writer.Family("http_body_bytes", "counter", "Bytes of requests' bodies.");
  writer.Sample("", body_bytes_);
  writer.Family("queue_seconds", "histogram", "From the submission to the last worker.");
  writer.Distribution(queue_);
  writer.Family("request_seconds", "histogram", "From the submission to the end.");
  writer.Distribution(total_);
  writer.Family("first_segment_seconds", "histogram", "To the first segment of a stream.");
  writer.Distribution(first_segment_);
  writer.Family("cancel_seconds", "histogram", "From a cancel to the worker's last word.");
  writer.Distribution(cancel_);
  writer.Family("real_time_factor", "histogram", "Time on a worker for each second of audio.");
  writer.Distribution(real_time_factor_);
  text += "# EOF\n";
  return text;
}

}  // namespace superfluid::daemon
