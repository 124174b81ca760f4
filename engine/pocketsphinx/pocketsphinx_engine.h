#ifndef SUPERFLUID_ENGINE_POCKETSPHINX_POCKETSPHINX_ENGINE_H_
#define SUPERFLUID_ENGINE_POCKETSPHINX_POCKETSPHINX_ENGINE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "engine/engine.h"

namespace superfluid {

// Speech to text with the pocketsphinx library, on the CPU.
//
// `config.model_path`: a folder with an acoustic model (a folder that holds `mdef`), one `*.lm.bin`
// or `*.lm` and one `*.dict`; empty: the distribution's US English model. `config.options`: see
// PocketsphinxOptions. `config.device` and `config.threads` are ignored: a job runs on the engine's
// thread, and one background thread of the engine's own makes and resets decoders.
//
// Errors of making one: NotFound or InvalidArgument for a model that is missing or incomplete;
// InvalidArgument for an unknown option or a value out of range; FailedPrecondition when the
// library cannot load the model. A model file that is damaged inside may end the process: the
// library calls exit() on some of them.
//
// Errors of StartTranscription: Unimplemented for a language other than the model's, for a prompt,
// and for a translation by a model that is not English; ResourceExhausted when `pool` jobs exist.
//
// Threads and lifetimes: as Engine. Several such engines may live in one process.
absl::StatusOr<std::unique_ptr<Engine>> MakePocketsphinxEngine(const EngineConfig& config);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_POCKETSPHINX_POCKETSPHINX_ENGINE_H_
