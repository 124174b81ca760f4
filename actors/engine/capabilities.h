#ifndef SUPERFLUID_ACTORS_ENGINE_CAPABILITIES_H_
#define SUPERFLUID_ACTORS_ENGINE_CAPABILITIES_H_

#include <optional>
#include <set>
#include <string>

#include "engine/engine.h"

namespace superfluid {

// The engine's capabilities with what the worker knows about it anyway, where they do not say it:
// "engine", "version", of one that transcribes "max_transcriptions", and of one that generates
// "vocab_size" and "max_lanes". What is no JSON object stays as it is.
std::string CompleteCapabilities(const std::string& json, const EngineInfo& info, bool generates);

// The "context_tokens" of an engine's capabilities; 0 if it says nothing sensible about them.
uint64_t ContextTokens(const std::string& json);

// The "calls" of an engine's capabilities; nullopt if it says nothing about them.
std::optional<std::set<std::string>> ListedCalls(const std::string& json);

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_ENGINE_CAPABILITIES_H_
