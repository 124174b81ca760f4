#ifndef SUPERFLUID_ENGINE_SAMPLING_TAG_SPEC_H_
#define SUPERFLUID_ENGINE_SAMPLING_TAG_SPEC_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/sampling/json_schema.h"

namespace superfluid {

// Free text with tags in it.
struct TagStructure {
  std::string begin;
  std::string end;
  JsonSchema schema;
};
struct TagSpec {
  std::vector<TagStructure> structures;
  std::vector<std::string> triggers;
};

// Reads {"structures": [{"begin": TEXT, "schema": SCHEMA, "end": TEXT}, ...], "triggers": [TEXT,
// ...]}: text is free until it ends with a trigger; then a begin that starts with that trigger, a
// value of its schema and its end must follow, and text is free again. Every begin starts with a
// trigger and every trigger starts a begin; no begin starts another. A "$ref" refers to the schema
// that it stands in. Threads: any.
//
// Errors: those of ParseJsonSchema; InvalidArgument: not 1 to 64 of each, a text that is not 1 to
// 256 bytes without NUL.
absl::StatusOr<TagSpec> ParseTagSpec(absl::string_view text);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_SAMPLING_TAG_SPEC_H_
