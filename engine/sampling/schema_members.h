#ifndef SUPERFLUID_ENGINE_SAMPLING_SCHEMA_MEMBERS_H_
#define SUPERFLUID_ENGINE_SAMPLING_SCHEMA_MEMBERS_H_

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/sampling/json_schema.h"

namespace superfluid {

// The members of one schema object, for ParseJsonSchema; its errors. Threads: any.

using Words = std::vector<std::string>;

// Return the keywords of a kind; of all types in the order in which a schema without a type gets
// one, integers last.
const Words& ValueKeywords();
const Words& AloneKeywords();
const Words& RootKeywords();
const std::vector<std::pair<std::string, Words>>& TypeKeywords();

// Refuses a keyword that is in none of the lists and no annotation.
absl::Status CheckKeywords(const nlohmann::ordered_json& schema, bool root);
// Refuses a keyword that is neither in `allowed` nor an annotation; `what` it stands beside.
absl::Status CheckNothingBeside(const nlohmann::ordered_json& schema, const Words& allowed,
                                absl::string_view what);

bool IsOfType(const nlohmann::ordered_json& value, absl::string_view type);
// Returns the names in 'type', each once and without "integer" beside "number"; none if there is
// no 'type'.
absl::StatusOr<Words> ReadTypes(const nlohmann::ordered_json& schema);

// Set `min` and `max`; `least` and `most`; `required` of an object whose `texts` are set.
absl::Status ReadCounts(const nlohmann::ordered_json& schema, const char* min, const char* max,
                        SchemaNode& node);
absl::Status ReadBounds(const nlohmann::ordered_json& schema, SchemaNode& node);
absl::Status ReadRequired(const nlohmann::ordered_json& schema, SchemaNode& node);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_SAMPLING_SCHEMA_MEMBERS_H_
