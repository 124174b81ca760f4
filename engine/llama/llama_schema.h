#ifndef SUPERFLUID_ENGINE_LLAMA_LLAMA_SCHEMA_H_
#define SUPERFLUID_ENGINE_LLAMA_LLAMA_SCHEMA_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace superfluid {

// Converts a JSON schema (ParseJsonSchema) into a grammar of the library. Every text of the grammar
// is a JSON value that the schema allows; the properties of an object come in the order given, and
// between values there may be blanks. Integers without bounds have up to 16 digits, numbers 16 and
// 15 more behind the point and an exponent of two.
//
// Cost: bounded, whatever the schema: that of making the grammar, of starting to read under it, and
// the readings of a text that are followed side by side.
//
// Errors: those of ParseJsonSchema; InvalidArgument: a count above 2000, more than 256 properties,
// more than 256 readings of a text side by side (alternatives of one type that are told apart by
// neither their first property nor its const or enum), too large a grammar.
absl::StatusOr<std::string> GbnfOfSchema(absl::string_view json);

// Converts tags (ParseTagSpec). A trigger is the longest of those that the text ends with.
//
// Errors: those of ParseTagSpec and above; InvalidArgument: too many or too long triggers.
absl::StatusOr<std::string> GbnfOfTags(absl::string_view json);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_LLAMA_LLAMA_SCHEMA_H_
