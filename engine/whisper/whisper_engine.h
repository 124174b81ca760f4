#ifndef SUPERFLUID_ENGINE_WHISPER_WHISPER_ENGINE_H_
#define SUPERFLUID_ENGINE_WHISPER_WHISPER_ENGINE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "engine/engine.h"

namespace superfluid {

// Speech to text with whisper.cpp, on the CPU or on an accelerator that the library has a backend
// for.
//
// `config.model_path`: a Whisper model in ggml format, of any size and quantisation.
// `config.options`: see WhisperOptions. `config.device`: index of the accelerator; 0 is the CPU
// where there is none. `config.threads`: of each computation; at most the cores that the process
// may use.
//
// A transcription is decoded in windows of 30 s, which is what a model hears at once; audio of no
// more than that gives exactly what whisper_full gives, longer audio what decisions/0008 says.
// Digital silence is never given to the model. Between any two encodes or decodes other work can be
// done, and on the CPU a cancel stops even those.
//
// Errors of making one: NotFound, InvalidArgument or FailedPrecondition for a model that is
// missing, damaged, of another kind, or that the library cannot load; InvalidArgument for an
// unknown option, a value out of range, or a device that does not exist; FailedPrecondition for a
// processor without the instructions that the library was built for; ResourceExhausted.
//
// Errors of StartTranscription: InvalidArgument for what is no language; Unimplemented for a
// language that the model lacks; ResourceExhausted when as many jobs as the option `states` exist.
//
// Threads and lifetimes: as Engine. The library's log is one for the process, so only one such
// engine at a time has its log.
absl::StatusOr<std::unique_ptr<Engine>> MakeWhisperEngine(const EngineConfig& config);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_WHISPER_WHISPER_ENGINE_H_
