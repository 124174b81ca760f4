#ifndef SUPERFLUID_TESTS_ENGINE_LLAMA_SCHEMA_CHECKER_H_
#define SUPERFLUID_TESTS_ENGINE_LLAMA_SCHEMA_CHECKER_H_

#include <nlohmann/json.hpp>
#include <string>

namespace superfluid::testing {

// Holds a value against a schema as JSON schema says, keyword by keyword, and shares no code with
// the grammars: the keywords that grammars take, at most one $defs at the root, no format but those
// of time. Returns "" or the first keyword that the value breaks.
std::string BrokenKeyword(const nlohmann::json& root, const nlohmann::json& schema,
                          const nlohmann::json& value);

}  // namespace superfluid::testing

#endif  // SUPERFLUID_TESTS_ENGINE_LLAMA_SCHEMA_CHECKER_H_
