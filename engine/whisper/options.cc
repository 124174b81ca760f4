#include "engine/whisper/options.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/options/option_kinds.h"

namespace superfluid {
namespace {

using Options = WhisperOptions;

// Repeats at so small steps would be hundreds.
constexpr double kLeastIncrement = 0.05;

template <class Field>
Option<Options> Whole(const char* name, int low, int high, Field WhisperOptions::*field,
                      const char* help) {
  return WholeOption<Options>(
      name, low, high, [field](Options & o) -> auto& { return o.*field; }, help);
}

Option<Options> Number(const char* name, double low, double high, double WhisperOptions::*field,
                       const char* help) {
  return NumberOption<Options>(
      name, low, high, [field](Options & o) -> auto& { return o.*field; }, help);
}

Option<Options> Switch(const char* name, bool WhisperOptions::*field, const char* help) {
  return SwitchOption<Options>(
      name, [field](Options & o) -> auto& { return o.*field; }, help);
}

Option<Options> Text(const char* name, std::string WhisperOptions::*field, const char* help) {
  return TextOption<Options>(
      name, "", IsAnyText, [field](Options & o) -> auto& { return o.*field; }, help);
}

}  // namespace

const OptionTable<WhisperOptions>& WhisperOptionTable() {
  static const auto* const kTable = new OptionTable<Options>(
      "whisper",
      {
          Whole("states", 1, 64, &Options::states,
                "transcriptions decoded at once; others wait for their turn. Each takes memory: "
                "about 40 MB for a tiny model, 100 for base, 600 for large"),
          Whole("beam_size", 1, 8, &Options::beam_size,
                "above 1: beam search instead of the likeliest token at temperature 0"),
          Whole("best_of", 1, 8, &Options::best_of, "candidates at temperatures above 0"),
          Number("temperature", 0, 1, &Options::temperature, "of the first try"),
          Number("temperature_inc", 0, 1, &Options::temperature_inc,
                 "a poor decode is repeated at a temperature so much higher, up to 1; 0: never"),
          Number("entropy_thold", 0, 10, &Options::entropy_thold,
                 "below it a text repeats itself, which is poor"),
          Number("logprob_thold", -10, 0, &Options::logprob_thold,
                 "below it the mean log probability is poor"),
          Number("no_speech_thold", 0, 1, &Options::no_speech_thold,
                 "above it a poor decode is no speech and gives no text"),
          Text("vad_model", &Options::vad_model,
               "path of a Silero model in ggml format (recommended: it keeps noise from becoming "
               "text); none: loudness alone"),
          Number("vad_threshold", 0.01, 0.99, &Options::vad_threshold,
                 "probability that is speech"),
          Whole("pause_ms", 200, 5000, &Options::pause_ms,
                "of live audio: a pause of this length ends what is transcribed as one piece"),
          Whole("partial_ms", 200, 10'000, &Options::partial_ms,
                "of live audio: new audio after which a partial result is made"),
          Whole("audio_ctx", 64, 1500, &Options::audio_ctx,
                "encoder context of partial results, at least, 20 ms each: shorter is faster and "
                "less exact"),
          Text("backends", &Options::backends,
               "folder of a system installation's backends (CPU variants, CUDA ...); none: beside "
               "it"),
          Switch("gpu", &Options::gpu, "use one if the library has a backend for it (--device)"),
          Switch("flash_attn", &Options::flash_attn, "flash attention: faster on CPUs"),
      });
  return *kTable;
}

absl::StatusOr<WhisperOptions> ParseWhisperOptions(
    const std::vector<std::pair<std::string, std::string>>& options) {
  absl::StatusOr<WhisperOptions> parsed = WhisperOptionTable().Parse(options);
  if (parsed.ok() && parsed->temperature_inc > 0 && parsed->temperature_inc < kLeastIncrement) {
    return absl::InvalidArgumentError(
        absl::StrCat("engine option temperature_inc: must be 0 or at least ", kLeastIncrement));
  }
  return parsed;
}

}  // namespace superfluid
