#include "tools/superfluidd/api/fleet_json.h"

namespace superfluid::daemon {
namespace {

using ctl::Json;

Json WorkerJson(const WorkerView& worker) {
  return {{"name", worker.name},
          {"model", worker.model},
          {"state", worker.state},
          {"engine", worker.engine},
          {"pid", worker.pid},
          {"places", worker.places},
          {"active", worker.active},
          {"restarts", worker.restarts},
          {"last_end", worker.last_end},
          {"engine_steps", worker.pong.engine_steps},
          {"engine_busy_us", worker.pong.engine_busy_us},
          {"step_age_us", worker.pong.step_age_us},
          {"open_transcriptions", worker.pong.open_transcriptions},
          {"allocated_bytes", worker.pong.mem.allocated_bytes}};
}

Json RequestJson(const RequestView& request) {
  return {{"id", request.id},
          {"model", request.model},
          {"state", request.worker.empty() ? "queued" : "running"},
          {"worker", request.worker},
          {"age_ms", absl::ToInt64Milliseconds(request.age)},
          {"estimated_seconds", request.estimated_seconds},
          {"live", request.live}};
}

}  // namespace

Json SummaryJson(const FleetSummary& summary) {
  const bool ready = summary.ready > 0 && !summary.draining;
  return {{"status", summary.draining ? "draining" : (ready ? "ready" : "not ready")},
          {"workers", summary.workers},
          {"workers_ready", summary.ready},
          {"queued", summary.queued},
          {"active", summary.active}};
}

Json FleetJson(const FleetView& view) {
  Json workers = Json::array();
  for (const WorkerView& worker : view.workers) workers.push_back(WorkerJson(worker));
  Json requests = Json::array();
  for (const RequestView& request : view.requests) requests.push_back(RequestJson(request));
  return {{"queued", view.queued},
          {"active", view.active},
          {"draining", view.draining},
          {"workers", workers},
          {"requests", requests}};
}

}  // namespace superfluid::daemon
