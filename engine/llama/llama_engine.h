#ifndef SUPERFLUID_ENGINE_LLAMA_LLAMA_ENGINE_H_
#define SUPERFLUID_ENGINE_LLAMA_LLAMA_ENGINE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "engine/engine.h"

namespace superfluid {

// The engine "llama": token generation with llama.cpp, of any model in the GGUF format that is one
// of a decoder with attention alone. Options: llama_options.h. On the CPU, or on the GPU that
// `config.device` names among those that the library's backends find; none is no error.
//
// Errors: those of ParseLlamaOptions, LlamaModel::Load and MediaEncoder::Load; Internal (the model
// computes nothing).
absl::StatusOr<std::unique_ptr<Engine>> MakeLlamaEngine(const EngineConfig& config);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_LLAMA_LLAMA_ENGINE_H_
