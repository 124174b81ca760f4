#ifndef SUPERFLUID_ENGINE_SIM_SIM_FILES_H_
#define SUPERFLUID_ENGINE_SIM_SIM_FILES_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace superfluid {

// What a file is, to an engine that does not understand it.
struct SimFile {
  uint64_t bytes = 0;
  uint64_t fingerprint = 0;  // of its bytes; never 0
};

// Reads a whole file. NotFound: it cannot be read; InvalidArgument: it is empty or has more than
// `most` bytes.
absl::StatusOr<SimFile> ReadSimFile(const std::string& path, size_t most);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_SIM_SIM_FILES_H_
