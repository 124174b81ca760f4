#ifndef SUPERFLUID_ENGINE_LOADER_LOADER_H_
#define SUPERFLUID_ENGINE_LOADER_LOADER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "engine/engine.h"

namespace superfluid {

// Loads the plug-in at `library_path` and makes an engine of it, which may take as long as loading
// the model does. The library stays loaded for the life of the process.
//
// A plug-in runs in the worker's process with the worker's rights: load only what is trusted.
//
// Errors: NotFound (no such file), InvalidArgument (not a regular file, not a shared library, no
// entry symbol, a broken table of functions), FailedPrecondition (made for another version of the
// engine interface), or what the engine says about its model and options. Texts name the file.
// Threads: the calling thread becomes the engine's thread (see PluginEngine).
absl::StatusOr<std::unique_ptr<Engine>> LoadEngine(const std::string& library_path,
                                                   const EngineConfig& config);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_LOADER_LOADER_H_
