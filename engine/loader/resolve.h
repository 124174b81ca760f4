#ifndef SUPERFLUID_ENGINE_LOADER_RESOLVE_H_
#define SUPERFLUID_ENGINE_LOADER_RESOLVE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace superfluid {

// Finds an engine's library. A text with a '/' is a path and is returned as it is, whatever is
// there, unless that is a folder; any other is a name: "sim" is the first `libsuperfluid_sim.so` in
// `search_dirs`, in their order.
//
// Errors: InvalidArgument (a name with other characters than [A-Za-z0-9_-]; the path of a folder),
// NotFound (the text lists the engines that the folders have, or the folders if they have none).
// Threads: any.
absl::StatusOr<std::string> ResolveEngine(absl::string_view name_or_path,
                                          const std::vector<std::string>& search_dirs);

// The names of the engines in `search_dirs`, sorted, without repeats. Folders that cannot be read
// count as empty.
std::vector<std::string> ListEngines(const std::vector<std::string>& search_dirs);

// Where a worker looks unless told otherwise, in this order: the folders of the colon-separated
// $SUPERFLUID_ENGINE_PATH; `engines` beside the executable; `../lib/superfluid/engines` from there,
// as tools/install puts it; the engine folders of the executable's Bazel runfiles, and of
// $RUNFILES_DIR if that is set. Folders that do not exist are left out, those of the environment
// variable are kept so that an error names them.
std::vector<std::string> DefaultEngineDirs();

namespace resolve_internal {

// The path of this program where there is no /proc to say it: by the name that the kernel was
// given. REQUIRES: the working directory is that of the start, if that name was relative.
std::string ExecutableWithoutProc();

}  // namespace resolve_internal

// DefaultEngineDirs with its inputs given; null stands for an unset variable.
struct EngineDirInputs {
  const char* engine_path = nullptr;   // $SUPERFLUID_ENGINE_PATH
  const char* runfiles_dir = nullptr;  // $RUNFILES_DIR
  std::string executable;              // absolute path
};
std::vector<std::string> EngineDirsFor(const EngineDirInputs& inputs);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_LOADER_RESOLVE_H_
