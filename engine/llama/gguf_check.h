#ifndef SUPERFLUID_ENGINE_LLAMA_GGUF_CHECK_H_
#define SUPERFLUID_ENGINE_LLAMA_GGUF_CHECK_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace superfluid {

// What a GGUF file says of itself.
struct GgufFacts {
  std::string architecture;  // general.architecture: "llama"
  std::string type;          // general.type: "model", "adapter", or empty
  uint64_t file_bytes = 0;
  // Of the header, the size and samples of the tensors' bytes: another model has another one.
  uint64_t fingerprint = 0;
};

// Reads the header of a GGUF file and checks that all it names lies within the file, so that the
// library is given nothing that makes it allocate without measure.
//
// Errors: NotFound (no file, cannot be read), InvalidArgument (no GGUF file, one of another version
// or byte order, truncated, sizes that cannot be).
absl::StatusOr<GgufFacts> CheckGguf(const std::string& path);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_LLAMA_GGUF_CHECK_H_
