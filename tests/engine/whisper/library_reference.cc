#include "tests/engine/whisper/library_reference.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "engine/whisper/whisper_model.h"

namespace superfluid {
namespace {

constexpr size_t kWindow = 480'000;

whisper_full_params Params(const ReferenceRequest& request) {
  whisper_full_params params = whisper_full_default_params(
      request.beam_size > 1 ? WHISPER_SAMPLING_BEAM_SEARCH : WHISPER_SAMPLING_GREEDY);
  params.print_progress = false;
  params.n_threads = request.threads;
  params.language = request.language.c_str();
  params.translate = request.translate;
  params.token_timestamps = request.timestamps;
  params.greedy.best_of = request.best_of;
  params.beam_search.beam_size = request.beam_size;
  params.temperature = request.temperature;
  params.temperature_inc = request.temperature_inc;
  return params;
}

RawSegment Read(whisper_context* context, whisper_state* state, int index, int64_t offset) {
  RawSegment segment;
  segment.start = whisper_full_get_segment_t0_from_state(state, index) + offset;
  segment.end = whisper_full_get_segment_t1_from_state(state, index) + offset;
  segment.no_speech_prob = whisper_full_get_segment_no_speech_prob_from_state(state, index);
  for (int i = 0; i < whisper_full_n_tokens_from_state(state, index); ++i) {
    const whisper_token_data data = whisper_full_get_token_data_from_state(state, index, i);
    RawToken token{.id = data.id, .is_text = data.id < whisper_token_eot(context)};
    if (token.is_text)
      token.bytes = whisper_full_get_token_text_from_state(context, state, index, i);
    token.probability = data.p;
    token.logprob = data.plog;
    token.start = data.t0 < 0 ? data.t0 : data.t0 + offset;
    token.end = data.t1 < 0 ? data.t1 : data.t1 + offset;
    segment.tokens.push_back(token);
  }
  return segment;
}

void ReadAll(whisper_context* context, whisper_state* state, int64_t offset,
             ReferenceResult& result) {
  const int count = whisper_full_n_segments_from_state(state);
  for (int i = 0; i < count; ++i) result.segments.push_back(Read(context, state, i, offset));
  result.language = whisper_lang_str(whisper_full_lang_id_from_state(state));
}

bool AllQuiet(const float* begin, const float* end) {
  return std::all_of(begin, end, [](float s) { return std::fabs(s) < 3.1623e-4F; });
}

// Stops a call before its second encode.
struct OneDecode {
  bool last = false;
  const std::vector<float>* samples = nullptr;
  int encodes = 0;
  int percent = 0;
  int attempts = 0;
  bool stopped = false;

  // Frames that the library is past, as far as it tells.
  int64_t Past(whisper_state* state) const {
    const int count = whisper_full_n_segments_from_state(state);
    int64_t past = int64_t{percent} * whisper_n_len_from_state(state) / 100;
    for (int i = 0; i < count; ++i) {
      past = std::max(past, whisper_full_get_segment_t1_from_state(state, i));
    }
    return past;
  }

  bool BeforeEncode(whisper_state* state) {
    const auto from = std::min(static_cast<size_t>(Past(state)) * 160, samples->size());
    const float* const rest = samples->data() + from;
    if (encodes > 0 && AllQuiet(rest, samples->data() + samples->size())) return false;
    if (encodes > 0 && !last) {
      stopped = true;
      return false;
    }
    ++encodes;
    attempts = 0;
    return true;
  }
};

void Observe(whisper_full_params& params, OneDecode& one) {
  params.progress_callback = [](whisper_context*, whisper_state*, int percent, void* data) {
    static_cast<OneDecode*>(data)->percent = percent;
  };
  params.progress_callback_user_data = &one;
  params.encoder_begin_callback = [](whisper_context*, whisper_state* state, void* data) {
    return static_cast<OneDecode*>(data)->BeforeEncode(state);
  };
  params.encoder_begin_callback_user_data = &one;
  params.logits_filter_callback = [](whisper_context*, whisper_state*, const whisper_token_data*,
                                     int tokens, float*, void* data) {
    if (tokens == 0) ++static_cast<OneDecode*>(data)->attempts;
  };
  params.logits_filter_callback_user_data = &one;
}

// What was said before, for the next window: as whisper_full rolls it.
std::vector<whisper_token> Roll(whisper_context* context, whisper_state* state,
                                std::vector<whisper_token> prompt, float temperature) {
  const auto most = static_cast<size_t>(whisper_n_text_ctx(context) / 2 - 1);
  if (prompt.size() > most) prompt.erase(prompt.begin(), prompt.end() - static_cast<long>(most));
  if (temperature >= 0.5F) prompt.clear();
  const whisper_token first_time = whisper_token_beg(context);
  for (int i = 0; i < whisper_full_n_segments_from_state(state); ++i) {
    const int64_t start = whisper_full_get_segment_t0_from_state(state, i);
    const bool timed = whisper_full_get_token_id_from_state(state, i, 0) >= first_time;
    if (i > 0 && !timed) prompt.push_back(first_time + static_cast<whisper_token>(start / 2));
    for (int t = 0; t < whisper_full_n_tokens_from_state(state, i); ++t) {
      prompt.push_back(whisper_full_get_token_id_from_state(state, i, t));
    }
  }
  return prompt;
}

std::vector<whisper_token> Tokens(whisper_context* context, const std::string& text) {
  std::vector<whisper_token> tokens(1000);
  tokens.resize(static_cast<size_t>(
      whisper_tokenize(context, text.c_str(), tokens.data(), static_cast<int>(tokens.size()))));
  return tokens;
}

}  // namespace

ReferenceContext::ReferenceContext(const std::string& model, bool flash_attn) {
  LoadBackends("");
  whisper_context_params params = whisper_context_default_params();
  params.use_gpu = false;
  params.flash_attn = flash_attn;
  whisper_log_set([](GgmlLogLevel, const char*, void*) {}, nullptr);
  context = whisper_init_from_file_with_params_no_state(model.c_str(), params);
}

ReferenceContext::~ReferenceContext() { whisper_free(context); }

ReferenceResult WholeReference(whisper_context* context, const ReferenceRequest& request,
                               const std::vector<float>& samples) {
  whisper_full_params params = Params(request);
  if (!request.prompt.empty()) params.initial_prompt = request.prompt.c_str();
  whisper_state* const state = whisper_init_state(context);
  ReferenceResult result;
  result.error = whisper_full_with_state(context, state, params, samples.data(),
                                         static_cast<int>(samples.size()));
  result.windows = 1;
  ReadAll(context, state, 0, result);
  whisper_free_state(state);
  return result;
}

ReferenceResult WindowedReference(whisper_context* context, const ReferenceRequest& request,
                                  const std::vector<float>& samples) {
  ReferenceResult result;
  std::vector<whisper_token> prompt = Tokens(context, request.prompt);
  ReferenceRequest used = request;
  bool goes_on = false;
  for (size_t position = 0; position < samples.size() && result.error == 0;) {
    const size_t size = std::min(kWindow, samples.size() - position);
    const auto begin = samples.begin() + static_cast<long>(position);
    const std::vector<float> window(begin, begin + static_cast<long>(size));
    if (AllQuiet(window.data(), window.data() + size)) {
      position += size;
      continue;
    }
    OneDecode one;
    one.last = position + size == samples.size();
    one.samples = &window;
    whisper_full_params params = Params(used);
    if (one.last && goes_on && size <= 80'000) prompt.clear();
    params.prompt_tokens = prompt.data();
    params.prompt_n_tokens = static_cast<int>(prompt.size());
    Observe(params, one);
    // What an earlier window has left, logits and random numbers, has no effect on this one.
    whisper_state* const state = whisper_init_state(context);
    result.error = whisper_full_with_state(context, state, params, window.data(),
                                           static_cast<int>(window.size()));
    ++result.windows;
    ReadAll(context, state, static_cast<int64_t>(position / 160), result);
    used.language = result.language;
    const bool spoke = whisper_full_n_segments_from_state(state) > 0;
    const auto past = static_cast<size_t>(std::max<int64_t>(one.Past(state), spoke ? 10 : 100));
    float temperature = params.temperature;
    for (int i = 1; i < one.attempts; ++i) temperature += params.temperature_inc;
    prompt = Roll(context, state, prompt, temperature);
    position += one.stopped ? std::min(past * 160, size) : size;
    goes_on = true;
    whisper_free_state(state);
  }
  return result;
}

std::string ReferenceText(const std::vector<RawSegment>& segments) {
  std::string text;
  for (const RawSegment& segment : segments) {
    for (const RawToken& token : segment.tokens) text += token.bytes;
  }
  return text;
}

}  // namespace superfluid
