#ifndef SUPERFLUID_ENGINE_WHISPER_OPTIONS_H_
#define SUPERFLUID_ENGINE_WHISPER_OPTIONS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/options/option_table.h"

namespace superfluid {

// What `--engine-option name=value` can set, with its range and default. Names are those of
// whisper.cpp where it has them.
struct WhisperOptions {
  // 1..64: transcriptions at once. Each has a state of its own beside the shared weights, made when
  // it is first needed: about 40 MB for a tiny model, 100 for base, 600 for large; and up to 95 for
  // the logits of a long prompt, which the memory counters always include.
  int states = 4;

  int beam_size = 1;  // 1..8: above 1, beam search instead of the likeliest token at temperature 0
  int best_of = 5;    // 1..8: candidates at temperatures above 0

  // When a decode is poor it is repeated at a higher temperature, up to 1. 0..1; an increment of 0
  // never repeats.
  double temperature = 0;
  double temperature_inc = 0.2;
  double entropy_thold = 2.4;    // 0..10: below it a text repeats itself, which is poor
  double logprob_thold = -1.0;   // -10..0: below it the mean log probability is poor
  double no_speech_thold = 0.6;  // 0..1: above it a poor decode is no speech and gives no text

  std::string vad_model;       // path of a Silero model in ggml format; empty: loudness alone
  double vad_threshold = 0.5;  // 0.01..0.99: probability that is speech

  // Live audio. A pause of this length ends what is transcribed as one piece.
  int pause_ms = 800;     // 200..5000
  int partial_ms = 1000;  // 200..10000: new audio after which a partial result is made
  // Encoder context of partial results, at least; 20 ms each. Shorter is faster and less exact.
  int audio_ctx = 256;  // 64..1500

  // Where the backends (CPU variants, CUDA ...) of a system installation lie; empty: beside it. The
  // library that is compiled in has its one backend inside.
  std::string backends;

  bool gpu = true;  // use one if the library has a backend for it; EngineConfig::device says which
  bool flash_attn = false;

  friend bool operator==(const WhisperOptions&, const WhisperOptions&) = default;
};

// All of them, with their ranges and what they are for.
const OptionTable<WhisperOptions>& WhisperOptionTable();

// Errors: InvalidArgument for a name that does not exist (the text lists those that do), a value
// that is no number or out of range, or a name given twice.
absl::StatusOr<WhisperOptions> ParseWhisperOptions(
    const std::vector<std::pair<std::string, std::string>>& options);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_WHISPER_OPTIONS_H_
