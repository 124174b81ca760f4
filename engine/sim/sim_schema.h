#ifndef SUPERFLUID_ENGINE_SIM_SIM_SCHEMA_H_
#define SUPERFLUID_ENGINE_SIM_SIM_SCHEMA_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/sim/sim_grammar.h"

namespace superfluid {

// Compiles a JSON schema of this subset: "type" (object, array, string, integer, number, boolean,
// null), "properties" and "required" (the properties come in the order given, optional ones may be
// left out, others never come), "items", "minItems", "maxItems", "minLength", "maxLength", "enum",
// "const". Annotations (title, description, default, examples, $schema, $id, $comment) and
// "additionalProperties" change nothing.
//
// Errors: InvalidArgument (no JSON, no type, more than 32 KiB, nested deeper than 32, contradicts
// itself); Unimplemented, with its name (a keyword that would restrict more).
absl::StatusOr<SimGrammar> CompileSimSchema(absl::string_view json);

// Compiles {"structures": [{"begin": TEXT, "schema": SCHEMA, "end": TEXT}, ...], "triggers":
// [TEXT, ...]}: text is free until it ends with a trigger; then a begin that starts with that
// trigger, a value of its schema and its end must follow, and text is free again. Every begin
// starts with a trigger and every trigger starts a begin; no begin starts another.
//
// Errors: as above.
absl::StatusOr<SimGrammar> CompileSimTags(absl::string_view json);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_SIM_SIM_SCHEMA_H_
