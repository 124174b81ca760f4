#include "engine/engine.h"

namespace superfluid {

absl::StatusOr<std::unique_ptr<TranscriptionJob>> Engine::StartTranscription(
    const TranscriptionParams& /*params*/, std::unique_ptr<AudioSource> /*audio*/) {
  return absl::UnimplementedError("this engine does not transcribe");
}

}  // namespace superfluid
