#ifndef SUPERFLUID_ENGINE_SAMPLING_SCHEMA_GRAPH_H_
#define SUPERFLUID_ENGINE_SAMPLING_SCHEMA_GRAPH_H_

#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "engine/sampling/json_schema.h"

namespace superfluid {

// Decisions over all nodes of a schema, once they are read. Threads: any.

// The types of values, as bits; kWordType: true, false and null.
enum SchemaType : unsigned {
  kStringType = 1,
  kNumberType = 2,
  kObjectType = 4,
  kArrayType = 8,
  kWordType = 16,
  kAllTypes = 31
};
// Returns the types of the values that a node describes, all of them for a kAnyOf.
unsigned SchemaTypes(const SchemaNode& node);

// Replaces alternatives that are kAnyOf by the alternatives of those. InvalidArgument: more than
// 256 in one place.
absl::Status FlattenAlternatives(JsonSchema& schema);

// Takes out alternatives and optional parts that no finite text completes. InvalidArgument: no
// finite text completes the root.
absl::Status PruneEndless(JsonSchema& schema);

// Unimplemented: two alternatives of a oneOf may allow the same value. InvalidArgument: there are
// too many to compare. REQUIRES: FlattenAlternatives; `one_ofs` holds the children of each oneOf.
absl::Status CheckOneOfs(const JsonSchema& schema, const std::vector<std::vector<size_t>>& one_ofs);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_SAMPLING_SCHEMA_GRAPH_H_
