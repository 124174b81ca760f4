#ifndef SUPERFLUID_ENGINE_LLAMA_PROJECTOR_CHECK_H_
#define SUPERFLUID_ENGINE_LLAMA_PROJECTOR_CHECK_H_

#include <string>

#include "absl/status/statusor.h"
#include "engine/llama/gguf_check.h"

namespace superfluid {

// Looks at a projector's file (architecture "clip") before the library does, which would take sizes
// as they are. Errors: those of CheckGguf; InvalidArgument (no projector, one that encodes no
// images, sizes that no projector has, or a kind whose tokens depend on where the image is).
absl::StatusOr<GgufFacts> CheckProjector(const std::string& path);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_LLAMA_PROJECTOR_CHECK_H_
