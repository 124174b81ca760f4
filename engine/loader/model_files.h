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

// Every file in `folder` and below, in the order of the names' bytes; symbolic links are followed.
// Errors: those of EngineBundleHash that concern folders. Threads: any.
absl::StatusOr<std::vector<ModelFile>> ListModelFiles(const std::string& folder);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_LOADER_MODEL_FILES_H_
