#ifndef SUPERFLUID_TESTS_INTEGRATION_ESCAPING_ENGINE_H_
#define SUPERFLUID_TESTS_INTEGRATION_ESCAPING_ENGINE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "engine/engine.h"

namespace superfluid {

// An engine that tries, on its thread, what a confined worker must not: each transcription has one
// segment for each attempt, "execve EPERM" or "execve ok". The option "folder" names where it makes
// and looks for files.
absl::StatusOr<std::unique_ptr<Engine>> MakeEscapingEngine(const EngineConfig& config);

}  // namespace superfluid

#endif  // SUPERFLUID_TESTS_INTEGRATION_ESCAPING_ENGINE_H_
