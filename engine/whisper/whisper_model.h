#ifndef SUPERFLUID_ENGINE_WHISPER_WHISPER_MODEL_H_
#define SUPERFLUID_ENGINE_WHISPER_WHISPER_MODEL_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "engine/engine.h"
#include "engine/whisper/ggml_names.h"
#include "engine/whisper/library_log.h"
#include "engine/whisper/options.h"

namespace superfluid {

struct FreeContext {
  void operator()(whisper_context* context) const { whisper_free(context); }
};
using WhisperContext = std::unique_ptr<whisper_context, FreeContext>;

// Whether this processor has the instructions that the library was built for (x86-64-v3: AVX2, FMA
// and their like, which servers have since 2013). Errors: FailedPrecondition.
absl::Status CheckProcessor();

// "whisper.cpp 1.8.0, CPU+CUDA": the library's version and the backends that it has.
std::string LibraryVersion();

// Loads the backends of a system installation from `folder`, or from where ggml lies if it is
// empty; to be called before anything is computed. What is compiled in needs nothing.
void LoadBackends(const std::string& folder);

// The name of the accelerator that `options` and `device` (its index) choose; empty for the CPU,
// which is taken without the option `gpu`, and for device 0 where there are no accelerators.
// Errors: InvalidArgument if there is none with this index.
absl::StatusOr<std::string> ChooseDevice(const WhisperOptions& options, int device);

// Loads the weights of a model file that CheckWhisperModel found good. Errors: FailedPrecondition
// with the library's reason.
absl::StatusOr<WhisperContext> LoadContext(const EngineConfig& config,
                                           const WhisperOptions& options, bool use_gpu,
                                           LibraryLog& log);

// About how long an encode of 30 s takes, from one of 1.3 s.
absl::Duration EstimateEncode(whisper_context* context, whisper_state* state, int threads);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_WHISPER_WHISPER_MODEL_H_
