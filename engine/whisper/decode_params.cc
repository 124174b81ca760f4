#include "engine/whisper/decode_params.h"

#include <algorithm>

namespace superfluid {
namespace {

constexpr int kContextSamples = 320;  // of audio that a unit of encoder context stands for
constexpr int kContextMargin = 32;
constexpr int kContextStep = 64;  // contexts are multiples of it
constexpr int kMostContext = 1500;
// A token has four letters at the mean. The library cuts words with a recursive regular expression,
// for which this length is harmless.
constexpr size_t kMostPromptBytes = 2000;

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

// The end of the prompt, whole characters and if possible whole words.
std::string EndOf(const std::string& prompt) {
  if (prompt.size() <= kMostPromptBytes) return prompt;
  size_t from = prompt.size() - kMostPromptBytes;
  const size_t space = prompt.find(' ', from);
  if (space != std::string::npos) return prompt.substr(space);
  while (from < prompt.size() && IsContinuation(prompt[from])) ++from;
  return prompt.substr(from);
}

}  // namespace

whisper_full_params FinalParams(const WhisperOptions& options, const TranscriptionParams& request,
                                int threads) {
  whisper_full_params params = whisper_full_default_params(
      options.beam_size > 1 ? WHISPER_SAMPLING_BEAM_SEARCH : WHISPER_SAMPLING_GREEDY);
  params.n_threads = threads;
  params.translate = request.translate;
  params.token_timestamps = request.timestamps;
  params.greedy.best_of = options.best_of;
  params.beam_search.beam_size = options.beam_size;
  params.temperature = static_cast<float>(options.temperature);
  params.temperature_inc = static_cast<float>(options.temperature_inc);
  params.entropy_thold = static_cast<float>(options.entropy_thold);
  params.logprob_thold = static_cast<float>(options.logprob_thold);
  params.no_speech_thold = static_cast<float>(options.no_speech_thold);
  return params;
}

whisper_full_params PartialParams(const WhisperOptions& options, const TranscriptionParams& request,
                                  int threads, size_t samples) {
  whisper_full_params params = whisper_full_default_params(WHISPER_SAMPLING_GREEDY);
  params.n_threads = threads;
  params.translate = request.translate;
  params.single_segment = true;
  params.greedy.best_of = 1;
  params.temperature = 0;
  params.temperature_inc = 0;
  params.no_speech_thold = static_cast<float>(options.no_speech_thold);
  // With flash attention the library leaves the end of a longer context in what it takes for zeros.
  if (options.flash_attn) return params;
  const int needed = static_cast<int>(samples) / kContextSamples + kContextMargin;
  const int rounded = (needed + kContextStep - 1) / kContextStep * kContextStep;
  params.audio_ctx = std::min(std::max(rounded, options.audio_ctx), kMostContext);
  return params;
}

std::vector<whisper_token> PromptTokens(whisper_context* context, const std::string& prompt) {
  const std::string end = EndOf(prompt);
  std::vector<whisper_token> tokens(end.size());
  if (end.empty()) return tokens;
  const int count =
      whisper_tokenize(context, end.c_str(), tokens.data(), static_cast<int>(tokens.size()));
  tokens.resize(static_cast<size_t>(std::max(count, 0)));
  return tokens;
}

}  // namespace superfluid
