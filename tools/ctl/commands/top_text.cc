#include "tools/ctl/commands/top_text.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/ctl/formats/plain_text.h"
#include "tools/ctl/formats/unit_text.h"
#include "tools/ctl/formats/worker_text.h"

namespace superfluid::ctl {
namespace {

constexpr size_t kStateColumns = 9;
constexpr std::string_view kGap = "   ";  // between two cells

std::string Count(std::optional<uint64_t> value) {
  return value.has_value() ? absl::StrCat(*value) : "-";
}

std::string Rate(std::optional<double> value) {
  return value.has_value() ? absl::StrFormat("%.1f/s", *value) : "-";
}

std::string Percent(std::optional<double> value) {
  return value.has_value() ? absl::StrFormat("%.0f%%", *value * 100) : "-";
}

std::string BytesRate(std::optional<double> value) {
  if (!value.has_value()) return "-";
  return absl::StrCat(BytesText(static_cast<uint64_t>(*value)), "/s");
}

std::string StepText(const linkw::Pong& pong) {
  return pong.step_age_us == 0 ? "none" : DurationText(absl::Microseconds(pong.step_age_us));
}

bool IsStalled(const linkw::Pong& pong) {
  return pong.engine_state == linkw::EngineState::kStalled;
}

// The member's text; "" if it is none.
std::string Text(const Json& object, const char* key) {
  const auto member = object.find(key);
  return member != object.end() && member->is_string() ? member->get<std::string>() : "";
}

std::string EngineRow(const TopFigures& figures) {
  const linkw::Pong& pong = figures.pong;
  std::string state = IsStalled(pong) ? "STALLED" : EngineStateText(pong);
  if (state.size() >= kStateColumns) state += " ";  // so that a cell ends here
  return absl::StrFormat("engine     %-*s load %-6s step %-9s steps %d (%s)",
                         static_cast<int>(kStateColumns), state, Percent(figures.load),
                         StepText(pong), pong.engine_steps, Rate(figures.steps_per_s));
}

// REQUIRES: there is a pool.
std::string PoolText(const linkw::MemCounters& mem) {
  return absl::StrFormat("%d of %d blocks (%.0f%%)", mem.pool_blocks_used, mem.pool_blocks_total,
                         100.0 * static_cast<double>(mem.pool_blocks_used) /
                             static_cast<double>(mem.pool_blocks_total));
}

// What an engine without a pool would say nothing in is left out.
std::string MemoryRow(const linkw::MemCounters& mem) {
  const std::string allocated =
      absl::StrFormat("memory     %s allocated", BytesText(mem.allocated_bytes));
  if (mem.pool_blocks_total == 0) return allocated;
  return absl::StrFormat("%s   pool %s   evictable %s", allocated, PoolText(mem),
                         BytesText(mem.pool_bytes_evictable));
}

template <typename T>
Json OrNull(std::optional<T> value) {
  return value.has_value() ? Json(*value) : Json(nullptr);
}

Json RateJson(std::optional<double> value) {
  return value.has_value() ? Json(JsonFloat(static_cast<float>(*value))) : Json(nullptr);
}

}  // namespace

TopRows RowsOf(const linkw::HelloAck& hello) {
  const Json capabilities = Json::parse(hello.capabilities_json, nullptr, false);
  if (!capabilities.is_object()) return {};
  const auto calls = capabilities.find("calls");
  if (calls == capabilities.end() || !calls->is_array()) return {};
  const auto has = [&calls](const char* call) {
    return std::find(calls->begin(), calls->end(), Json(call)) != calls->end();
  };
  return {.ticks = has("tick"), .state_ops = has("state_ops"), .speech = has("transcribe")};
}

std::string TopTitle(const std::string& socket_path, const linkw::HelloAck& hello) {
  const Json capabilities = Json::parse(hello.capabilities_json, nullptr, false);
  if (!capabilities.is_object()) return socket_path;
  std::string title = socket_path;
  std::string engine = Text(capabilities, "name");
  if (engine.empty()) engine = Text(capabilities, "engine");
  const std::string model = Text(capabilities, "model");
  if (!engine.empty()) absl::StrAppend(&title, "  ", engine);
  if (!model.empty()) absl::StrAppend(&title, "  ", model);
  return title;
}

std::vector<std::string> TopView(const std::string& title, const TopRows& rows,
                                 const TopFigures& figures) {
  const linkw::Pong& pong = figures.pong;
  const linkw::MemCounters& mem = pong.mem;
  std::vector<std::string> view = {absl::StrCat("superfluidctl top - ", OneLine(title)), "",
                                   EngineRow(figures)};
  if (IsStalled(pong)) {
    view.push_back(absl::StrCat("           no sign of life for ", StepText(pong)));
  }
  if (const std::string facts = WorkerFactsText(pong, kGap); !facts.empty()) {
    view.push_back(absl::StrCat("worker     ", facts.substr(kGap.size())));
  }
  if (rows.ticks) {
    view.push_back(absl::StrFormat("lanes      %-9s ticks %s", Count(figures.lanes),
                                   Rate(figures.ticks_per_s)));
    view.push_back(absl::StrFormat("tokens     in %s   out %s", Rate(figures.tokens_in_per_s),
                                   Rate(figures.tokens_out_per_s)));
  }
  if (rows.state_ops) {
    view.push_back(absl::StrFormat("state ops  %d open   %s done   %s", pong.open_ops,
                                   Count(figures.ops_done), BytesRate(figures.op_bytes_per_s)));
  }
  if (rows.speech) {
    view.push_back(absl::StrFormat("speech     %d open   %s done", pong.open_transcriptions,
                                   Count(figures.transcriptions_done)));
  }
  view.push_back(absl::StrFormat("requests   %s open   %d queued   %s cancels",
                                 Count(figures.open_requests), pong.queue_depth,
                                 Count(figures.cancels)));
  view.push_back(MemoryRow(mem));
  if (mem.host_retained_bytes > 0 || mem.tentative_bytes > 0) {
    view.push_back(absl::StrFormat("           %s retained in the host   %s tentative",
                                   BytesText(mem.host_retained_bytes),
                                   BytesText(mem.tentative_bytes)));
  }
  view.insert(view.end(), {"", "q or Ctrl-C ends"});
  return view;
}

std::string TopLine(const TopFigures& figures) {
  const linkw::Pong& pong = figures.pong;
  return absl::StrFormat(
      "%s, load %s, step %s, lanes %s, tokens in %s out %s, %d ops, %d transcriptions, %d queued, "
      "memory %s%s\n",
      EngineStateText(pong), Percent(figures.load), StepText(pong), Count(figures.lanes),
      Rate(figures.tokens_in_per_s), Rate(figures.tokens_out_per_s), pong.open_ops,
      pong.open_transcriptions, pong.queue_depth, BytesText(pong.mem.allocated_bytes),
      WorkerFactsText(pong, ", "));
}

Json TopJson(const TopFigures& figures) {
  const linkw::Pong& pong = figures.pong;
  Json json = {{"engine_state", std::string(EngineStateName(pong.engine_state))},
               {"load", RateJson(figures.load)},
               {"step_age_us", pong.step_age_us},
               {"engine_steps", pong.engine_steps},
               {"engine_busy_us", pong.engine_busy_us},
               {"lanes", OrNull(figures.lanes)},
               {"ticks_per_second", RateJson(figures.ticks_per_s)},
               {"tokens_in_per_second", RateJson(figures.tokens_in_per_s)},
               {"tokens_out_per_second", RateJson(figures.tokens_out_per_s)},
               {"open_ops", pong.open_ops},
               {"ops_done", OrNull(figures.ops_done)},
               {"op_bytes_per_second", RateJson(figures.op_bytes_per_s)},
               {"open_transcriptions", pong.open_transcriptions},
               {"transcriptions_done", OrNull(figures.transcriptions_done)},
               {"queue_depth", pong.queue_depth},
               {"open_requests", OrNull(figures.open_requests)},
               {"cancels", OrNull(figures.cancels)},
               {"mem", MemoryJson(pong.mem)}};
  AddWorkerFacts(pong, &json);
  return json;
}

}  // namespace superfluid::ctl
