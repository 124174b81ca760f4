#ifndef SUPERFLUID_ENGINE_LOADER_MODEL_FILES_H_
#define SUPERFLUID_ENGINE_LOADER_MODEL_FILES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace superfluid {

struct ModelFile {
  std::string name;  // relative to the folder, parts joined by '/'
  std::string path;  // to open it by
};

// What the path of a model stands for.
struct ModelParts {
  // The values are the tags of EngineBundleHash.
  enum class Kind : char { kNone = 'N', kFile = 'F', kShards = 'S', kFolder = 'D' };
  Kind kind = Kind::kNone;
  std::vector<ModelFile> files;
};

// The files of a model: none for an empty path; all shards for the first of a GGUF model that its
// tools have split (NAME-00001-of-00003.gguf), there or not; the file for any other; or every file
// in a folder and below, in the order of the names' bytes. Symbolic links are followed.
// Errors: those of EngineBundleHash. Threads: any.
absl::StatusOr<ModelParts> PartsOfModel(const std::string& path);

// The paths of all shards if `path` has the name of the first of several, else `path` alone.
std::vector<std::string> ShardsOf(const std::string& path);

// Whether the value of an option is the path of a regular file. Threads: any.
bool NamesFile(const std::string& value);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_LOADER_MODEL_FILES_H_
