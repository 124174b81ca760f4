#ifndef SUPERFLUID_ENGINE_WHISPER_DECODE_PARAMS_H_
#define SUPERFLUID_ENGINE_WHISPER_DECODE_PARAMS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "engine/transcription.h"
#include "engine/whisper/ggml_names.h"
#include "engine/whisper/options.h"

namespace superfluid {

// How a transcription's windows are decoded. No pointer in it is set.
whisper_full_params FinalParams(const WhisperOptions& options, const TranscriptionParams& request,
                                int threads);

// How a window of `samples` that still grows is decoded: once, as one segment, with the likeliest
// tokens (so that no random numbers are drawn), and with a shorter encoder context where that
// leaves no trace in what is decoded later.
whisper_full_params PartialParams(const WhisperOptions& options, const TranscriptionParams& request,
                                  int threads, size_t samples);

// The tokens of a text that precedes the audio; only its end if it is long, since a model takes no
// more than about 220 tokens.
std::vector<whisper_token> PromptTokens(whisper_context* context, const std::string& prompt);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_WHISPER_DECODE_PARAMS_H_
