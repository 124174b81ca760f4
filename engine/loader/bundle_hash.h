#ifndef SUPERFLUID_ENGINE_LOADER_BUNDLE_HASH_H_
#define SUPERFLUID_ENGINE_LOADER_BUNDLE_HASH_H_

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace superfluid {

using EngineOptions = std::vector<std::pair<std::string, std::string>>;

// The identity of what a worker runs: SHA-256 over the engine's library, its model and its options.
// Equal hashes mean that state of one worker can be used by another.
//
// The bytes hashed, in order; every number is 64 bits, little-endian, every text and file is
// preceded by its length:
//   "superfluid engine bundle 2"
//   'L' and the library's bytes
//   'N' for no model (an empty path); 'F' and the file's bytes; 'S', the number of shards of a
//   split
//       model and the bytes of each; or 'D', the number of files in the folder and below, and for
//       each its relative name (parts joined by '/') and its bytes, in the order of the names'
//       bytes. Empty folders do not count
//   'O', the number of options, and for each, in the order of the keys, its key and 'T' and its
//       value, or, where that is the path of a file (a projector, a voice detector), 'F' and the
//       file's bytes; options of the same key keep their order
// Symbolic links are followed, so that a link and a copy are the same.
//
// Reads everything, which takes seconds for each GB (2.7 s measured on a busy machine with the file
// in the page cache). Do it before the engine's thread has work.
// Errors: NotFound (a path that does not exist), PermissionDenied, InvalidArgument (something else
// than files and folders, folders that contain themselves, more than 10'000 entries, more than 64
// levels), Aborted (a file changed while it was read), Internal (a read error).
// Threads: any.
absl::StatusOr<std::array<uint8_t, 32>> EngineBundleHash(const std::string& library_path,
                                                         const std::string& model_path,
                                                         const EngineOptions& options);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_LOADER_BUNDLE_HASH_H_
