#include "actors/engine/capabilities.h"

#include <nlohmann/json.hpp>

namespace superfluid {

using Json = nlohmann::json;

std::string CompleteCapabilities(const std::string& json, const EngineInfo& info, bool generates) {
  Json capabilities = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!capabilities.is_object()) return json;
  capabilities.emplace("engine", info.name);
  capabilities.emplace("version", info.version);
  if (info.max_transcriptions > 0) {
    capabilities.emplace("max_transcriptions", info.max_transcriptions);
  }
  if (generates) {
    capabilities.emplace("vocab_size", info.vocab_size);
    capabilities.emplace("max_lanes", info.max_lanes);
  }
  // What an engine says may not be UTF-8.
  return capabilities.dump(-1, ' ', false, Json::error_handler_t::replace);
}

uint64_t ContextTokens(const std::string& json) {
  const Json capabilities = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!capabilities.is_object()) return 0;
  const auto tokens = capabilities.find("context_tokens");
  if (tokens == capabilities.end() || !tokens->is_number_unsigned()) return 0;
  return tokens->get<uint64_t>();
}

std::optional<std::set<std::string>> ListedCalls(const std::string& json) {
  const Json capabilities = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!capabilities.is_object()) return std::nullopt;
  const auto calls = capabilities.find("calls");
  if (calls == capabilities.end() || !calls->is_array()) return std::nullopt;
  std::set<std::string> listed;
  for (const Json& call : *calls) {
    if (call.is_string()) listed.insert(call.get<std::string>());
  }
  return listed;
}

}  // namespace superfluid
