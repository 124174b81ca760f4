#ifndef SUPERFLUID_ENGINE_LLAMA_GGUF_CHECK_H_
#define SUPERFLUID_ENGINE_LLAMA_GGUF_CHECK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/call_control.h"

namespace superfluid {

// What a GGUF file says of itself.
struct GgufFacts {
  std::string architecture;  // general.architecture: "llama"
  std::string type;          // general.type: "model", "adapter", or empty
  uint64_t file_bytes = 0;
  // Of the header, the size and samples of the tensors' bytes: models that were made differently
  // have different ones, a copy with a few bytes changed by hand may not.
  uint64_t fingerprint = 0;
  // In the order of the header.
  struct Tensor {
    std::string name;
    int32_t type = 0;    // a ggml_type
    uint64_t start = 0;  // in the file
    uint64_t bytes = 0;
  };
  std::vector<Tensor> tensors;
};

// Reads the header of a GGUF file and checks that all it names lies within the file, so that the
// library is given nothing that makes it allocate without measure.
//
// Errors: NotFound (no file, cannot be read), InvalidArgument (no GGUF file, one of another version
// or byte order, truncated, sizes that cannot be), Cancelled. Each part read is a sign of life.
absl::StatusOr<GgufFacts> CheckGguf(const std::string& path,
                                    const CallControl& control = CallControl());

// The same of a model, which may be split into shards: each is checked, and the facts are of the
// first, but for the size and the fingerprint, which are of all. Errors name the file.
absl::StatusOr<GgufFacts> CheckGgufModel(const std::string& path,
                                         const CallControl& control = CallControl());

// Reads the tensors' bytes once, part by part, each a sign of life: what the library then reads is
// in the page cache, and holds numbers. Errors: those of CheckGguf; InvalidArgument: a tensor of a
// type that nothing is computed with, or one that holds something that is no finite number.
// Returns a hash of all the bytes (XXH3, 64 bits).
absl::StatusOr<uint64_t> CheckGgufTensors(const std::string& path, const GgufFacts& facts,
                                          const CallControl& control);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_LLAMA_GGUF_CHECK_H_
