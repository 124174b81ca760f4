#ifndef SUPERFLUID_ENGINE_LLAMA_SCHEMA_CHECK_H_
#define SUPERFLUID_ENGINE_LLAMA_SCHEMA_CHECK_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace superfluid {

// Parses and bounds a schema or tags from a peer before the library's converter sees it. Errors:
// those of GbnfOfSchema that need no converter.
absl::StatusOr<nlohmann::ordered_json> ParseSchemaJson(absl::string_view text);
absl::Status CheckSchema(const nlohmann::ordered_json& schema);

// Structural tags, checked as GbnfOfTags says.
struct TagStructure {
  std::string begin;
  std::string end;
  std::string schema;  // JSON
};
struct TagSpec {
  std::vector<TagStructure> structures;
  std::vector<std::string> triggers;
};
absl::StatusOr<TagSpec> ParseTags(absl::string_view text);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_LLAMA_SCHEMA_CHECK_H_
