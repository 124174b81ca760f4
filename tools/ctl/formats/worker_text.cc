#include "tools/ctl/formats/worker_text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/ctl/formats/plain_text.h"
#include "tools/ctl/formats/unit_text.h"

namespace superfluid::ctl {
namespace {

constexpr uint32_t kPermillePerPercent = 10;

absl::Duration Ms(uint64_t ms) { return absl::Milliseconds(ms); }

std::string Line(std::string_view name, const std::string& value) {
  return absl::StrFormat("%-15s %s\n", name, value);
}

std::string StringField(const Json& object, const char* name) {
  if (!object.is_object()) return "";
  const auto field = object.find(name);
  if (field == object.end() || !field->is_string()) return "";
  return OneLine(field->get<std::string>());
}

// The engine in one line, from the capabilities that engines usually have.
std::string EngineText(const Json& capabilities) {
  std::string text = StringField(capabilities, "name");
  if (text.empty()) text = StringField(capabilities, "engine");
  if (text.empty()) text = "(does not say its name)";
  const std::string version = StringField(capabilities, "version");
  if (!version.empty()) absl::StrAppend(&text, " ", version);
  const std::string model = StringField(capabilities, "model");
  if (!model.empty()) absl::StrAppend(&text, ", model ", model);
  return text;
}

// The link takes more than the engine works on: the rest waits for its turn.
std::string TranscriptionsText(const linkw::HelloAck& hello, const Json& capabilities) {
  std::string text = absl::StrCat("up to ", hello.limits.max_transcriptions, " open on a link");
  if (!capabilities.is_object()) return text;
  const Json speech = capabilities.value("transcribe", Json());
  for (const Json* object : {&capabilities, &speech}) {
    if (!object->is_object()) continue;
    const auto engine = object->find("max_transcriptions");
    if (engine == object->end() || !engine->is_number_unsigned()) continue;
    return absl::StrCat(text, ", of which the engine works on ", engine->get<uint64_t>(),
                        " at a time");
  }
  return text;
}

std::string StateSpacesText(const linkw::HelloAck& hello) {
  std::string text;
  for (const linkw::StateSpaceDescriptor& space : hello.state_space_descriptors) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", OneLine(space.name), " (",
                    space.bytes_per_token, " bytes a token)");
  }
  return text.empty() ? "none" : text;
}

std::string StrategiesText(const linkw::HelloAck& hello) {
  std::string text;
  for (const linkw::RegisteredStrategy& strategy : hello.registered_strategies) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", OneLine(strategy.strategy_id), " ",
                    OneLine(strategy.impl_version));
  }
  return text.empty() ? "none" : text;
}

std::string RingsText(const linkw::Limits& limits) {
  std::string text;
  for (const linkw::RingSpec& ring : limits.ring_specs) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", static_cast<uint32_t>(ring.ring_id), ": ",
                    ring.slots, " slots of ", ring.slot_bytes, " bytes");
  }
  return text.empty() ? "none" : text;
}

// For people: the languages once. There may be a hundred of them.
Json WithoutRepetition(Json capabilities) {
  if (!capabilities.is_object() || !capabilities.contains("transcribe")) return capabilities;
  Json& speech = capabilities["transcribe"];
  if (!speech.is_object() || !speech.contains("languages")) return capabilities;
  const auto from = speech.find("translate_from");
  if (from != speech.end() && from->size() > 1 && *from == speech["languages"]) {
    *from = "all of them";
  }
  return capabilities;
}

Json LimitsJson(const linkw::Limits& limits) {
  Json rings = Json::array();
  for (const linkw::RingSpec& ring : limits.ring_specs) {
    rings.push_back({{"ring_id", static_cast<uint32_t>(ring.ring_id)},
                     {"kind", ring.kind == linkw::RingKind::kLogits ? "logits" : "tokens"},
                     {"slot_bytes", ring.slot_bytes},
                     {"slots", ring.slots}});
  }
  return {{"max_frame", limits.max_frame},
          {"op_window", limits.op_window},
          {"max_lanes", limits.max_lanes},
          {"max_transcriptions", limits.max_transcriptions},
          {"ring_specs", rings}};
}

Json StateSpacesJson(const linkw::HelloAck& hello) {
  Json spaces = Json::array();
  for (const linkw::StateSpaceDescriptor& space : hello.state_space_descriptors) {
    spaces.push_back({{"space_id", static_cast<uint32_t>(space.space_id)},
                      {"name", space.name},
                      {"bytes_per_token", space.bytes_per_token},
                      {"boundary_tokens", space.boundary_tokens},
                      {"encodings", space.encodings},
                      {"compat_key", HashText(space.compat_key)}});
  }
  return spaces;
}

Json StrategiesJson(const linkw::HelloAck& hello) {
  Json strategies = Json::array();
  for (const linkw::RegisteredStrategy& strategy : hello.registered_strategies) {
    strategies.push_back({{"strategy_slot", static_cast<uint32_t>(strategy.strategy_slot)},
                          {"strategy_id", strategy.strategy_id},
                          {"impl_version", strategy.impl_version}});
  }
  return strategies;
}

}  // namespace

std::string HashText(const linkw::Hash& hash) {
  std::string text;
  for (const uint8_t byte : hash) absl::StrAppendFormat(&text, "%02x", byte);
  return text;
}

std::string InfoText(const linkw::HelloAck& hello) {
  const Json capabilities = JsonOrText(hello.capabilities_json);
  const linkw::Limits& limits = hello.limits;
  return absl::StrCat(
      Line("engine", EngineText(capabilities)),
      Line("protocol", absl::StrCat("Link W version ", hello.chosen_version)),
      Line("bundle hash", HashText(hello.engine_bundle_hash)),
      Line("transcriptions", TranscriptionsText(hello, capabilities)),
      Line("lanes", absl::StrCat("up to ", limits.max_lanes, " a tick")),
      Line("state ops", absl::StrCat("up to ", limits.op_window, " at once")),
      Line("largest frame", BytesText(limits.max_frame)), Line("rings", RingsText(limits)),
      Line("state spaces", StateSpacesText(hello)), Line("strategies", StrategiesText(hello)),
      Line("KV", hello.kv_bits == 0 ? "none" : absl::StrCat(hello.kv_bits, " bits a value")),
      "capabilities\n", JsonDocument(WithoutRepetition(capabilities)));
}

Json InfoJson(const linkw::HelloAck& hello) {
  return {{"protocol_version", hello.chosen_version},
          {"engine_bundle_hash", HashText(hello.engine_bundle_hash)},
          {"capabilities", JsonOrText(hello.capabilities_json)},
          {"limits", LimitsJson(hello.limits)},
          {"state_spaces", StateSpacesJson(hello)},
          {"strategies", StrategiesJson(hello)},
          {"kv_bits", hello.kv_bits}};
}

std::string MemoryText(const linkw::MemCounters& mem) {
  std::string blocks = absl::StrCat(mem.pool_blocks_used, " of ", mem.pool_blocks_total, " used");
  if (mem.pool_blocks_total > 0) {
    absl::StrAppendFormat(&blocks, " (%.0f%%)",
                          100.0 * static_cast<double>(mem.pool_blocks_used) /
                              static_cast<double>(mem.pool_blocks_total));
  }
  return absl::StrCat(Line("allocated", BytesText(mem.allocated_bytes)),
                      Line("host retained", BytesText(mem.host_retained_bytes)),
                      Line("pool blocks", blocks),
                      Line("evictable", BytesText(mem.pool_bytes_evictable)),
                      Line("tentative", BytesText(mem.tentative_bytes)));
}

Json MemoryJson(const linkw::MemCounters& mem) {
  return {{"allocated_bytes", mem.allocated_bytes},
          {"host_retained_bytes", mem.host_retained_bytes},
          {"pool_blocks_total", mem.pool_blocks_total},
          {"pool_blocks_used", mem.pool_blocks_used},
          {"pool_bytes_evictable", mem.pool_bytes_evictable},
          {"tentative_bytes", mem.tentative_bytes}};
}

std::string_view EngineStateName(linkw::EngineState state) {
  switch (state) {
    case linkw::EngineState::kIdle:
      return "idle";
    case linkw::EngineState::kBusy:
      return "busy";
    case linkw::EngineState::kStalled:
      return "stalled";
    case linkw::EngineState::kFailed:
      return "failed";
    case linkw::EngineState::kDraining:
      return "draining";
    case linkw::EngineState::kLoading:
      return "loading";
  }
  return "unknown";
}

std::string EngineStateText(const linkw::Pong& pong) {
  std::string text(EngineStateName(pong.engine_state));
  if (pong.engine_state == linkw::EngineState::kLoading && pong.load_permille > 0) {
    absl::StrAppend(&text, " ", pong.load_permille / kPermillePerPercent, " %");
  }
  return text;
}

std::string WorkerFactsText(const linkw::Pong& pong, std::string_view separator) {
  const absl::string_view gap(separator.data(), separator.size());
  std::string text;
  if (pong.uptime_ms > 0) absl::StrAppend(&text, gap, "up ", AgeText(Ms(pong.uptime_ms)));
  if (pong.driver_ms > 0) {
    const std::string pid = pong.driver_pid == 0 ? "" : absl::StrCat(" ", pong.driver_pid);
    absl::StrAppend(&text, gap, "driver", pid, " for ", AgeText(Ms(pong.driver_ms)));
  }
  if (pong.observers > 0) absl::StrAppend(&text, gap, CountText(pong.observers, "observer"));
  return text;
}

void AddWorkerFacts(const linkw::Pong& pong, Json* json) {
  const auto add = [json](const char* key, uint64_t value) {
    if (value > 0) (*json)[key] = value;
  };
  if (pong.engine_state == linkw::EngineState::kLoading) add("load_permille", pong.load_permille);
  add("uptime_ms", pong.uptime_ms);
  add("driver_pid", pong.driver_pid);
  add("driver_ms", pong.driver_ms);
  add("observers", pong.observers);
}

std::string PongText(const linkw::Pong& pong, absl::Duration round_trip) {
  const std::string step_age =
      pong.step_age_us == 0 ? "none" : DurationText(absl::Microseconds(pong.step_age_us));
  return absl::StrFormat(
      "answer in %s: engine %s, %d queued, %s, %s, %s, current step %s, "
      "busy for %s in total, memory %s%s\n",
      DurationText(round_trip), EngineStateText(pong), pong.queue_depth,
      CountText(pong.open_transcriptions, "transcription"), CountText(pong.open_ops, "op"),
      CountText(pong.engine_steps, "step"), step_age,
      DurationText(absl::Microseconds(pong.engine_busy_us)), BytesText(pong.mem.allocated_bytes),
      WorkerFactsText(pong, ", "));
}

Json PongJson(const linkw::Pong& pong, absl::Duration round_trip) {
  Json json = {{"round_trip_ms", JsonMs(round_trip)},
               {"engine_state", std::string(EngineStateName(pong.engine_state))},
               {"queue_depth", pong.queue_depth},
               {"open_transcriptions", pong.open_transcriptions},
               {"open_ops", pong.open_ops},
               {"engine_steps", pong.engine_steps},
               {"step_age_us", pong.step_age_us},
               {"engine_busy_us", pong.engine_busy_us},
               {"mem", MemoryJson(pong.mem)}};
  AddWorkerFacts(pong, &json);
  return json;
}

}  // namespace superfluid::ctl
