#ifndef SUPERFLUID_ENGINE_LLAMA_LLAMA_SCHEMA_H_
#define SUPERFLUID_ENGINE_LLAMA_LLAMA_SCHEMA_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace superfluid {

// Converts a JSON schema into a grammar of the library, by the library's own converter: its subset
// of JSON schema ($ref within the document, oneOf, anyOf, allOf, const, enum, type, properties,
// required, additionalProperties, items, prefixItems, minItems, maxItems, minLength, maxLength,
// minimum, maximum, format). Values may have the spaces that the converter allows.
//
// Errors: InvalidArgument (no JSON object, more than 32 KiB, nested deeper than 32, an object of
// more than 64 optional properties, counts above 1000, a grammar of more than 1 MiB, what the
// converter refuses); Unimplemented, with its name ("pattern", whose cost cannot be bounded; a $ref
// out of the document).
absl::StatusOr<std::string> GbnfOfSchema(absl::string_view json);

// Converts {"structures": [{"begin": TEXT, "schema": SCHEMA, "end": TEXT}, ...], "triggers":
// [TEXT, ...]}: text is free until it ends with a trigger (the longest of those it ends with); then
// a begin that starts with that trigger, a value of its schema and its end must follow, and text is
// free again. Every begin starts with a trigger and every trigger starts a begin; no begin starts
// another.
//
// Errors: as above; InvalidArgument: 1 to 64 of each, texts of 1 to 256 bytes without NUL.
absl::StatusOr<std::string> GbnfOfTags(absl::string_view json);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_LLAMA_LLAMA_SCHEMA_H_
