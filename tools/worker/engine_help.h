#ifndef SUPERFLUID_TOOLS_WORKER_ENGINE_HELP_H_
#define SUPERFLUID_TOOLS_WORKER_ENGINE_HELP_H_

#include <string>

#include "absl/status/statusor.h"
#include "tools/worker/worker_options.h"

namespace superfluid {

// Returns the path of the library of the engine that the options name. Errors: those of
// ResolveEngine.
absl::StatusOr<std::string> FindLibrary(const WorkerOptions& options);

// Returns what the chosen engine says about its options, a line each: it is loaded with the option
// `help` (engine/options/option_text.h). Errors: those of FindLibrary and LoadEngine;
// FailedPrecondition if it says nothing.
absl::StatusOr<std::string> EngineHelp(const WorkerOptions& options);

}  // namespace superfluid

#endif  // SUPERFLUID_TOOLS_WORKER_ENGINE_HELP_H_
