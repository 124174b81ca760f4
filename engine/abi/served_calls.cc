#include "engine/abi/served_calls.h"

#include <array>
#include <nlohmann/json.hpp>

namespace superfluid {
namespace {

using Table = sfl_engine_vtable;
using Json = nlohmann::json;

struct Row {
  const char* call;
  bool (*served)(const Table& table);
};

// The names are those of StateSyncReq in linkw.proto, and the five that stand for messages.
constexpr std::array kRows = {
    Row{"tick", [](const Table& t) { return t.run_tick != nullptr; }},
    Row{"match", [](const Table& t) { return t.match != nullptr; }},
    Row{"seed", [](const Table& t) { return t.acquire_seed && t.release_seed; }},
    Row{"state_ops", [](const Table& t) { return t.export_start && t.import_start; }},
    Row{"strategy", [](const Table& t) { return t.register_strategy != nullptr; }},
    Row{"fork", [](const Table& t) { return t.fork != nullptr; }},
    Row{"trim", [](const Table& t) { return t.trim != nullptr; }},
    Row{"export_size", [](const Table& t) { return t.export_size != nullptr; }},
    Row{"cache_evict", [](const Table& t) { return t.evict_cache != nullptr; }},
    Row{"cache_evict_entries", [](const Table& t) { return t.evict_entries != nullptr; }},
    Row{"snapshot_boundary", [](const Table& t) { return t.snapshot_boundary != nullptr; }},
    Row{"lane_sequence", [](const Table& t) { return t.lane_sequence != nullptr; }},
    Row{"create_sequence", [](const Table& t) { return t.create_sequence != nullptr; }},
    Row{"free_sequence", [](const Table& t) { return t.free_sequence != nullptr; }},
    Row{"create_grammar", [](const Table& t) { return t.create_grammar != nullptr; }},
    Row{"create_grammar_structural",
        [](const Table& t) { return t.create_structural_grammar != nullptr; }},
    Row{"free_grammar", [](const Table& t) { return t.free_grammar != nullptr; }},
    Row{"create_logit_bias", [](const Table& t) { return t.create_logit_bias != nullptr; }},
    Row{"free_logit_bias", [](const Table& t) { return t.free_logit_bias != nullptr; }},
    Row{"embed", [](const Table& t) { return t.embed != nullptr; }},
    Row{"lora_load", [](const Table& t) { return t.load_adapter != nullptr; }},
    Row{"lora_unload", [](const Table& t) { return t.unload_adapter != nullptr; }},
    Row{"lora_id", [](const Table& t) { return t.current_adapter != nullptr; }},
    Row{"forward_stage", [](const Table& t) { return t.forward_stage != nullptr; }},
    Row{"media_probe", [](const Table& t) { return t.probe_media != nullptr; }},
    Row{"media_encode", [](const Table& t) { return t.encode_media != nullptr; }},
    Row{"media_release", [](const Table& t) { return t.release_media != nullptr; }},
    Row{"media_bind", [](const Table& t) { return t.bind_media != nullptr; }},
    Row{"adopt_sequence", [](const Table& t) { return t.adopt_sequence != nullptr; }},
    Row{"publish_sequence", [](const Table& t) { return t.publish_sequence != nullptr; }},
    Row{"unpublish", [](const Table& t) { return t.unpublish != nullptr; }},
};

}  // namespace

std::string WithServedCalls(std::string json, const sfl_engine_vtable& functions,
                            const EngineInfo& info, bool generates) {
  Json capabilities = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!capabilities.is_object() || capabilities.contains("calls")) return json;
  Json calls = Json::array();
  if (info.max_transcriptions > 0) calls.push_back("transcribe");
  for (const Row& row : kRows) {
    if (generates && row.served(functions)) calls.push_back(row.call);
  }
  capabilities["calls"] = calls;
  // What an engine says may not be UTF-8.
  return capabilities.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace superfluid
