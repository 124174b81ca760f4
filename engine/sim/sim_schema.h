#ifndef SUPERFLUID_ENGINE_SIM_SIM_SCHEMA_H_
#define SUPERFLUID_ENGINE_SIM_SIM_SCHEMA_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/sim/sim_grammar.h"

namespace superfluid {

// Compiles a JSON schema: of the subset of ParseJsonSchema "type" (one), "properties", "required"
// (the properties come in the order given, optional ones may be left out, others never come),
// "additionalProperties", "items", "minItems", "maxItems", "minLength", "maxLength", "enum",
// "const".
//
// Errors: those of ParseJsonSchema; InvalidArgument (a part without a type, enum or const, an
// array without items); Unimplemented, with its name (the rest of that subset).
absl::StatusOr<SimGrammar> CompileSimSchema(absl::string_view json);

// Compiles tags (ParseTagSpec). Errors: those of ParseTagSpec and above.
absl::StatusOr<SimGrammar> CompileSimTags(absl::string_view json);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_SIM_SIM_SCHEMA_H_
