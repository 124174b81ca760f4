#ifndef MY_SILENT_ENGINE_H_
#define MY_SILENT_ENGINE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "engine/engine.h"

absl::StatusOr<std::unique_ptr<superfluid::Engine>> MakeSilentEngine(
    const superfluid::EngineConfig& config);

#endif  // MY_SILENT_ENGINE_H_
