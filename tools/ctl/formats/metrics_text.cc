#include "tools/ctl/formats/metrics_text.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/ctl/formats/json_text.h"
#include "tools/ctl/formats/worker_text.h"

namespace superfluid::ctl {
namespace {

enum class Kind { kCounter, kGauge };

struct Row {
  std::string_view counter;  // its name in the telemetry
  const char* metric;
  Kind kind;
  const char* help;
};

constexpr std::array kRows = {
    Row{"ticks.done", "ticks", Kind::kCounter, "Ticks that were answered"},
    Row{"ticks.lanes", "tick_lanes", Kind::kCounter, "Lanes of all ticks"},
    Row{"ticks.tokens_in", "tokens_in", Kind::kCounter, "Tokens appended to sequences"},
    Row{"ticks.tokens_out", "tokens_out", Kind::kCounter, "Tokens drawn"},
    Row{"lanes.active", "active_lanes", Kind::kGauge, "Lanes of the last tick"},
    Row{"ops.done", "state_ops", Kind::kCounter, "State ops that ended"},
    Row{"ops.bytes_moved", "state_op_bytes", Kind::kCounter, "Bytes that state ops moved"},
    Row{"transcriptions.done", "transcriptions", Kind::kCounter, "Transcriptions that ended"},
    Row{"requests.open", "open_requests", Kind::kGauge, "Requests that were not answered"},
    Row{"cancels", "cancels", Kind::kCounter, "Cancels that daemons asked for"},
};

// What a Pong says as well, and newer.
constexpr std::array<std::string_view, 10> kInPong = {
    "engine.steps",          "engine.busy_us",       "ops.open",
    "transcriptions.open",   "mem.allocated_bytes",  "mem.host_retained_bytes",
    "mem.pool_blocks_total", "mem.pool_blocks_used", "mem.pool_bytes_evictable",
    "mem.tentative_bytes"};

class Metrics {
 public:
  // `labels`: with their braces, or none.
  void Add(std::string_view name, Kind kind, std::string_view help, std::string_view value,
           std::string_view labels = "") {
    Head(name, kind, help);
    Sample(name, kind, value, labels);
  }
  void Count(std::string_view name, Kind kind, std::string_view help, uint64_t value) {
    Add(name, kind, help, absl::StrCat(value));
  }
  void Seconds(std::string_view name, Kind kind, std::string_view help, uint64_t us) {
    Add(name, kind, help, absl::StrFormat("%d.%06d", us / 1'000'000, us % 1'000'000));
  }
  void Thousandths(std::string_view name, Kind kind, std::string_view help, uint64_t value) {
    Add(name, kind, help, absl::StrFormat("%d.%03d", value / 1000, value % 1000));
  }
  void Head(std::string_view name, Kind kind, std::string_view help) {
    absl::StrAppend(&text_, "# HELP superfluid_", View(name), " ", View(help),
                    ".\n# TYPE superfluid_", View(name),
                    kind == Kind::kCounter ? " counter\n" : " gauge\n");
  }
  void Sample(std::string_view name, Kind kind, std::string_view value, std::string_view labels) {
    absl::StrAppend(&text_, "superfluid_", View(name), kind == Kind::kCounter ? "_total" : "",
                    View(labels), " ", View(value), "\n");
  }
  std::string End() { return absl::StrCat(text_, "# EOF\n"); }

 private:
  static absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

  std::string text_;
};

// A label's value: backslashes, quotes and line breaks are escaped, and nothing else.
std::string Quoted(std::string_view value) {
  std::string text = "\"";
  for (const char c : value) {
    if (c == '\\' || c == '"') text.push_back('\\');
    c == '\n' ? text.append("\\n") : text.append(1, c);
  }
  return text + "\"";
}

std::string EngineName(const linkw::HelloAck& hello) {
  const Json capabilities = Json::parse(hello.capabilities_json, nullptr, false);
  if (!capabilities.is_object()) return "";
  for (const char* key : {"name", "engine"}) {
    const auto name = capabilities.find(key);
    if (name != capabilities.end() && name->is_string()) return name->get<std::string>();
  }
  return "";
}

void AddState(const linkw::Pong& pong, Metrics* metrics) {
  metrics->Head("engine_state", Kind::kGauge, "Is 1 for the state that the engine is in");
  for (const linkw::EngineState state :
       {linkw::EngineState::kIdle, linkw::EngineState::kBusy, linkw::EngineState::kStalled,
        linkw::EngineState::kFailed, linkw::EngineState::kDraining, linkw::EngineState::kLoading}) {
    metrics->Sample("engine_state", Kind::kGauge, state == pong.engine_state ? "1" : "0",
                    absl::StrCat("{state=", Quoted(EngineStateName(state)), "}"));
  }
}

// What the worker does not say is left out.
void AddWorkerFigures(const linkw::Pong& pong, Metrics* metrics) {
  if (pong.engine_state == linkw::EngineState::kLoading && pong.load_permille > 0) {
    metrics->Thousandths("engine_load_ratio", Kind::kGauge,
                         "How much of the engine is loaded, 0 to 1", pong.load_permille);
  }
  if (pong.uptime_ms > 0) {
    metrics->Thousandths("uptime_seconds", Kind::kGauge, "Time since the worker's start",
                         pong.uptime_ms);
  }
  if (pong.driver_ms > 0) {
    metrics->Thousandths("driver_seconds", Kind::kGauge, "Time since the driver has its role",
                         pong.driver_ms);
  }
  if (pong.driver_pid > 0) {
    metrics->Count("driver_pid", Kind::kGauge, "Process of the driver", pong.driver_pid);
  }
  if (pong.observers > 0) {
    metrics->Count("observers", Kind::kGauge, "Open links but the driver's", pong.observers);
  }
}

void AddPong(const linkw::Pong& pong, Metrics* metrics) {
  const linkw::MemCounters& mem = pong.mem;
  AddState(pong, metrics);
  metrics->Count("engine_steps", Kind::kCounter, "Micro-steps of the engine", pong.engine_steps);
  metrics->Seconds("engine_busy_seconds", Kind::kCounter, "Time inside of steps",
                   pong.engine_busy_us);
  metrics->Seconds("engine_step_age_seconds", Kind::kGauge,
                   "Time of the running step without a sign of life", pong.step_age_us);
  metrics->Count("queue_depth", Kind::kGauge, "Requests that the engine has not begun",
                 pong.queue_depth);
  metrics->Count("open_state_ops", Kind::kGauge, "State ops that did not end", pong.open_ops);
  metrics->Count("open_transcriptions", Kind::kGauge, "Transcriptions that did not end",
                 pong.open_transcriptions);
  metrics->Count("memory_allocated_bytes", Kind::kGauge, "What the engine has of its accelerator",
                 mem.allocated_bytes);
  metrics->Count("memory_host_retained_bytes", Kind::kGauge, "What it keeps in the host's memory",
                 mem.host_retained_bytes);
  metrics->Count("pool_blocks", Kind::kGauge, "Blocks of the cache", mem.pool_blocks_total);
  metrics->Count("pool_used_blocks", Kind::kGauge, "Blocks of it in use", mem.pool_blocks_used);
  metrics->Count("pool_evictable_bytes", Kind::kGauge, "What an eviction would free",
                 mem.pool_bytes_evictable);
  metrics->Count("memory_tentative_bytes", Kind::kGauge, "Reserved for work that is not certain",
                 mem.tentative_bytes);
  AddWorkerFigures(pong, metrics);
}

// "a.b" as a metric's name: a letter or an underscore first, then digits too.
std::string MetricName(std::string_view counter) {
  std::string name(counter);
  for (char& c : name) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name;
}

void AddCounters(const std::map<std::string, uint64_t>& counters, Metrics* metrics) {
  for (const auto& [name, value] : counters) {
    if (std::find(kInPong.begin(), kInPong.end(), name) != kInPong.end()) continue;
    const auto* row = std::find_if(kRows.begin(), kRows.end(),
                                   [&key = name](const Row& r) { return r.counter == key; });
    if (row == kRows.end()) {
      metrics->Count(MetricName(name), Kind::kGauge, "A figure of the worker's telemetry", value);
    } else {
      metrics->Count(row->metric, row->kind, row->help, value);
    }
  }
}

}  // namespace

std::string MetricsText(const linkw::HelloAck& hello, const linkw::Pong& pong,
                        const std::map<std::string, uint64_t>& counters) {
  Metrics metrics;
  metrics.Add("worker_info", Kind::kGauge, "Says which engine the worker has", "1",
              absl::StrCat("{engine=", Quoted(EngineName(hello)),
                           ",bundle_hash=", Quoted(HashText(hello.engine_bundle_hash)), "}"));
  AddPong(pong, &metrics);
  AddCounters(counters, &metrics);
  return metrics.End();
}

}  // namespace superfluid::ctl
