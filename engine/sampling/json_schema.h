#ifndef SUPERFLUID_ENGINE_SAMPLING_JSON_SCHEMA_H_
#define SUPERFLUID_ENGINE_SAMPLING_JSON_SCHEMA_H_

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace superfluid {

// The values that a part of a schema allows. Each value that a node describes is one that the
// schema allows; not every allowed value is described (see ParseJsonSchema).
struct SchemaNode {
  enum class Kind : uint8_t {
    kAny,       // any value
    kLiterals,  // texts: the values as JSON without blanks, sorted, each once
    kInteger,   // least, most
    kNumber,
    kString,  // min, max: code points; or format
    kArray,   // children[0]: the items; min, max: how many
    kTuple,   // children: the items, all of them
    kObject,  // texts: the names as JSON, in order; children: their values; required
    kMap,     // any names; children[0]: their values
    kAnyOf    // children: the alternatives, none of which is a kAnyOf
  };
  Kind kind = Kind::kAny;
  std::vector<std::string> texts;
  std::vector<size_t> children;
  std::vector<bool> required;
  uint64_t min = 0;
  uint64_t max = UINT64_MAX;
  int64_t least = INT64_MIN;
  int64_t most = INT64_MAX;
  std::string format;    // "": none; "date", "time", "date-time" or "uuid"
  std::string keyword;   // the keyword that made the node of this kind; "": the type alone did
  bool untyped = false;  // the schema has no type, and allows values of other types too
};

// A schema, checked: the one reading of JSON schema for all engines. Nodes may refer to each other
// in circles ($ref). Immutable. Each node that is reachable from the root can be completed by some
// finite text. Threads: any.
struct JsonSchema {
  std::vector<SchemaNode> nodes;
  size_t root = 0;
};

// Reads a schema of this subset; a keyword is allowed where it is enforced, and nowhere else:
//
//   any schema   type (one or a list), enum, const; annotations: title, description, default,
//                examples, deprecated, readOnly, writeOnly, $schema, $id, $comment
//   alone        $ref ("#/$defs/NAME", "#/definitions/NAME"), anyOf, oneOf (of alternatives that
//                exclude each other), allOf (of one schema): annotations only may stand beside
//   object       properties, required (names of properties), additionalProperties
//   array        items, prefixItems, minItems, maxItems, uniqueItems (false)
//   string       minLength, maxLength; or format (date, time, date-time, uuid)
//   integer      minimum, maximum, exclusiveMinimum, exclusiveMaximum
//   the root     $defs, definitions
//
// A keyword of another type than the schema's has no meaning there, as JSON schema says. A schema
// without a type has the first type, in the order above, that one of its keywords belongs to; true
// and {} allow any value. Values are fewer than the schema allows: an object with properties has no
// others, a tuple has exactly its items, an integer is written without fraction and exponent.
//
// Cost: bounded by the size of the text, and a few milliseconds for the largest.
//
// Errors: InvalidArgument (no JSON object, more than 32 KiB, nested deeper than 32, malformed, a
// minimum above its maximum, no value can match, too many alternatives); Unimplemented with the
// name of the keyword (any other keyword; one of the above where it would not be enforced).
absl::StatusOr<JsonSchema> ParseJsonSchema(absl::string_view text);

// The two steps of it: the text's bounds and syntax, and the rest.
absl::StatusOr<nlohmann::ordered_json> ParseSchemaText(absl::string_view text);
absl::StatusOr<JsonSchema> ReadJsonSchema(const nlohmann::ordered_json& schema);

// Returns InvalidArgument with the text.
absl::Status BadSchema(absl::string_view what);
// Returns Unimplemented for a keyword; `where`: "" or what is said behind its name.
absl::Status UnsupportedKeyword(absl::string_view keyword, absl::string_view where = "");

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_SAMPLING_JSON_SCHEMA_H_
