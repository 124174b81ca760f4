#ifndef SUPERFLUID_ENGINE_LLAMA_SCHEMA_READINGS_H_
#define SUPERFLUID_ENGINE_LLAMA_SCHEMA_READINGS_H_

#include <cstddef>

#include "absl/status/statusor.h"
#include "engine/sampling/json_schema.h"

namespace superfluid {

// The most readings of a text that the library follows side by side (its "stacks"): what each
// drawn token costs is a multiple of them. Alternatives of the same type are followed until they
// are told apart, so they multiply from each nesting to the next.
struct SchemaReadings {
  size_t at_start = 1;
  size_t most = 1;
};

// Returns upper bounds of them. InvalidArgument: more than 256, or without bound. Threads: any.
absl::StatusOr<SchemaReadings> CountReadings(const JsonSchema& schema);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_LLAMA_SCHEMA_READINGS_H_
