#include "engine/whisper/window_run.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/whisper/silence.h"

namespace superfluid {
namespace {

constexpr int64_t kFrameSamples = 160;  // 10 ms, the library's unit of time
constexpr int64_t kLeastProgress = 10;  // frames; less would be the same window again
constexpr int64_t kLeastSkipped = 100;  // frames, after a decode that found no speech
constexpr float kPromptBelow = 0.5F;    // the library conditions only decodes at lower temperatures
constexpr int kStateFreed = -7;         // the error after which the library has freed the state

}  // namespace

absl::StatusOr<std::unique_ptr<WindowRun>> WindowRun::Create(whisper_context* context,
                                                             LibraryState* state, LibraryLog* log,
                                                             Request request) {
  std::unique_ptr<WindowRun> run(new WindowRun(context, state, log, std::move(request)));
  absl::StatusOr<std::unique_ptr<Fiber>> fiber =
      Fiber::Create([self = run.get()](Fiber&) { self->Run(); });
  if (!fiber.ok()) return fiber.status();
  run->fiber_ = *std::move(fiber);
  return run;
}

WindowRun::WindowRun(whisper_context* context, LibraryState* state, LibraryLog* log,
                     Request request)
    : context_(context), state_(state), log_(log), request_(std::move(request)) {
  FillParams();
}

WindowRun::~WindowRun() {
  fiber_.reset();  // the body comes to its end, which uses the other members
}

absl::StatusOr<bool> WindowRun::Step(const CancelToken& token) {
  state_->SetToken(&token);
  const bool ended = fiber_->Resume();
  state_->SetToken(nullptr);
  if (!ended) return false;
  if (absl::Status status = Outcome(token); !status.ok()) return status;
  return true;
}

absl::Status WindowRun::Outcome(const CancelToken& token) {
  if (library_error_ == kStateFreed) state_->Abandon();
  if (out_of_memory_) return absl::ResourceExhaustedError("there is no memory for a segment");
  if (fiber_->error().ok() && library_error_ == 0) return absl::OkStatus();
  if (token.cancelled()) return absl::CancelledError("the transcription was cancelled");
  if (!fiber_->error().ok()) return fiber_->error();
  return absl::InternalError(absl::StrCat("the library failed to transcribe (", library_error_,
                                          "): ", log_->TakeFirstError()));
}

std::vector<RawSegment> WindowRun::TakeSegments() { return std::exchange(segments_, {}); }

std::vector<whisper_token> WindowRun::NextPrompt() const {
  std::vector<whisper_token> prompt;
  if (temperature_ < kPromptBelow) {
    const auto most = static_cast<size_t>(std::max(whisper_n_text_ctx(context_) / 2 - 1, 0));
    const size_t kept = std::min(most, request_.prompt.size());
    prompt.assign(request_.prompt.end() - static_cast<std::ptrdiff_t>(kept), request_.prompt.end());
  }
  prompt.insert(prompt.end(), decoded_.begin(), decoded_.end());
  return prompt;
}

void WindowRun::FillParams() {
  whisper_full_params& params = request_.params;
  params.print_progress = false;
  params.print_realtime = false;
  params.print_timestamps = false;
  params.print_special = false;
  params.no_context = true;  // what was said before comes in `prompt`, not from the state
  params.prompt_tokens = request_.prompt.data();
  params.prompt_n_tokens = static_cast<int>(request_.prompt.size());

  params.progress_callback = [](whisper_context*, whisper_state*, int percent, void* self) {
    static_cast<WindowRun*>(self)->progress_percent_ = percent;
  };
  params.progress_callback_user_data = this;
  params.encoder_begin_callback = [](whisper_context*, whisper_state*, void* self) {
    return static_cast<WindowRun*>(self)->BeforeEncode();
  };
  params.encoder_begin_callback_user_data = this;
  // Asked after each encode and decode; true ends the call.
  params.abort_callback = [](void* self) { return !static_cast<WindowRun*>(self)->Pause(); };
  params.abort_callback_user_data = this;
  params.logits_filter_callback = [](whisper_context*, whisper_state*, const whisper_token_data*,
                                     int tokens, float*, void* self) {
    // Of several candidates only the first is asked for without a token, and on this thread.
    if (tokens == 0) static_cast<WindowRun*>(self)->OnAttempt();
  };
  params.logits_filter_callback_user_data = this;
  params.new_segment_callback = [](whisper_context*, whisper_state*, int count, void* self) {
    auto* const run = static_cast<WindowRun*>(self);
    try {
      run->OnSegments(count);
    } catch (const std::exception&) {
      run->out_of_memory_ = true;  // the next callback that may end the call does
    }
  };
  params.new_segment_callback_user_data = this;
}

void WindowRun::Run() {
  state_->ForgetLogits(context_);
  if (request_.language.empty() && !DetectLanguage()) return;
  request_.params.language = request_.language.c_str();
  heard_samples_ = static_cast<int64_t>(request_.samples.size());
  library_error_ =
      whisper_full_with_state(context_, state_->get(), request_.params, request_.samples.data(),
                              static_cast<int>(request_.samples.size()));
}

// As whisper_lang_auto_detect_with_state does it, which does not call back between its parts.
// Returns false if the run is to end.
bool WindowRun::DetectLanguage() {
  const int threads = request_.params.n_threads;
  library_error_ =
      whisper_pcm_to_mel_with_state(context_, state_->get(), request_.samples.data(),
                                    static_cast<int>(request_.samples.size()), threads);
  if (library_error_ != 0 || !Pause()) return false;
  UseAudioContext();
  library_error_ = whisper_encode_with_state(context_, state_->get(), 0, threads);
  if (library_error_ != 0 || !Pause()) return false;
  const whisper_token start = whisper_token_sot(context_);
  library_error_ = whisper_decode_with_state(context_, state_->get(), &start, 1, 0, threads);
  if (library_error_ != 0) return false;
  request_.language = whisper_lang_str(MostLikelyLanguage());
  return true;
}

// The state remembers the encoder context of the last transcription, and only a transcription sets
// it: one of a tenth of a second, which the library finds too short to do anything about.
void WindowRun::UseAudioContext() {
  whisper_full_params params = whisper_full_default_params(WHISPER_SAMPLING_GREEDY);
  params.n_threads = request_.params.n_threads;
  params.print_progress = false;
  params.duration_ms = 100;
  params.audio_ctx = request_.params.audio_ctx;
  whisper_full_with_state(context_, state_->get(), params, nullptr, 0);
}

int WindowRun::MostLikelyLanguage() const {
  const float* const logits = whisper_get_logits_from_state(state_->get());
  int best = 0;
  for (int id = 1; id < request_.languages; ++id) {
    const float logit = logits[whisper_token_lang(context_, id)];
    if (logit > logits[whisper_token_lang(context_, best)]) best = id;
  }
  return best;
}

// Before the first encode and between a decode and the encode that follows it.
bool WindowRun::BeforeEncode() {
  if (encodes_ > 0 && RestIsSilent()) return false;
  if (encodes_ > 0 && request_.one_decode) {
    const int64_t least = last_end_ > 0 ? kLeastProgress : kLeastSkipped;
    heard_samples_ = std::min(std::max(HeardFrames(), least) * kFrameSamples, heard_samples_);
    return false;
  }
  ++encodes_;
  attempts_ = 0;
  return Pause();
}

// Where the library is now, at least. It does not tell more exactly than in percent of the window,
// but does not go on before the end of a segment.
int64_t WindowRun::HeardFrames() const {
  const int64_t frames = whisper_n_len_from_state(state_->get());
  return std::max<int64_t>(progress_percent_ * frames / 100, last_end_);
}

bool WindowRun::RestIsSilent() const {
  const auto from = static_cast<size_t>(HeardFrames() * kFrameSamples);
  return IsSilent(request_.samples.subspan(std::min(from, request_.samples.size())));
}

bool WindowRun::Pause() { return !out_of_memory_ && fiber_->Yield(); }

void WindowRun::OnAttempt() {
  const whisper_full_params& params = request_.params;
  temperature_ = attempts_ == 0 ? params.temperature : temperature_ + params.temperature_inc;
  ++attempts_;
  const bool is_beam_search = params.strategy == WHISPER_SAMPLING_BEAM_SEARCH;
  drew_random_numbers_ = drew_random_numbers_ || temperature_ > 0 || is_beam_search;
}

void WindowRun::OnSegments(int count) {
  const int total = whisper_full_n_segments_from_state(state_->get());
  for (int i = std::max(total - count, 0); i < total; ++i) {
    RawSegment segment = ReadSegment(i);
    const whisper_token first_time = whisper_token_beg(context_);
    // The library tells the time that ends a segment, but not the one that begins the next.
    if (!decoded_.empty() && !segment.tokens.empty() && segment.tokens.front().id < first_time) {
      decoded_.push_back(first_time + static_cast<whisper_token>(segment.start / 2));
    }
    for (const RawToken& token : segment.tokens) decoded_.push_back(token.id);
    last_end_ = std::max(last_end_, segment.end);
    segments_.push_back(std::move(segment));
  }
}

RawSegment WindowRun::ReadSegment(int index) const {
  whisper_state* const state = state_->get();
  RawSegment segment;
  segment.start = whisper_full_get_segment_t0_from_state(state, index);
  segment.end = whisper_full_get_segment_t1_from_state(state, index);
  segment.no_speech_prob = whisper_full_get_segment_no_speech_prob_from_state(state, index);
  segment.temperature = temperature_;
  const int tokens = whisper_full_n_tokens_from_state(state, index);
  segment.tokens.reserve(static_cast<size_t>(std::max(tokens, 0)));
  for (int i = 0; i < tokens; ++i) {
    const whisper_token_data data = whisper_full_get_token_data_from_state(state, index, i);
    RawToken token{.id = data.id,
                   .is_text = data.id < whisper_token_eot(context_),
                   .probability = data.p,
                   .logprob = data.plog,
                   .start = data.t0,
                   .end = data.t1};
    if (token.is_text) token.bytes = whisper_token_to_str(context_, data.id);
    segment.tokens.push_back(std::move(token));
  }
  return segment;
}

}  // namespace superfluid
