#include "engine/whisper/whisper_job.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/time/time.h"
#include "engine/whisper/decode_params.h"
#include "engine/whisper/language.h"

namespace superfluid {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kMsSamples = kEngineSampleRateHz / 1000;
constexpr size_t kReadSamples = 4096;
constexpr int kReadsAhead = 16;                        // at once
constexpr int64_t kMostAhead = 2 * kWindowSamples;     // of live audio, while a window is decoded
constexpr int64_t kRecordedPause = 3000 * kMsSamples;  // worth a window of its own behind it
// The library decodes what is left at the end of audio without a prompt if it is as short as this.
constexpr int64_t kWithoutPrompt = 5000 * kMsSamples;

}  // namespace

WhisperJob::WhisperJob(WhisperParts* parts, const TranscriptionParams& request,
                       std::string language, std::unique_ptr<AudioSource> audio)
    : parts_(parts),
      request_(request),
      language_(std::move(language)),
      audio_(std::move(audio)),
      builder_(request.timestamps) {
  ++parts_->open_jobs;
}

WhisperJob::~WhisperJob() {
  DropRun();
  planner_.reset();
  parts_->voice_activity->GiveBack(std::move(activity_));
  --parts_->open_jobs;
}

absl::StatusOr<StepOutcome> WhisperJob::Step(const StepBudget& budget, const CancelToken& token,
                                             SegmentSink& sink) {
  if (token.cancelled()) return absl::CancelledError("the transcription was cancelled");
  if (made_) return GoOn(token, sink);
  helped_ = false;
  const auto deadline = Clock::now() + absl::ToChronoNanoseconds(budget.target);
  do {
    absl::StatusOr<StepOutcome> outcome = DoOne();
    if (!outcome.ok() || *outcome != StepOutcome::kMore) return outcome;
  } while (run_ == nullptr && !helped_ && Clock::now() < deadline && !token.cancelled());
  return StepOutcome::kMore;
}

absl::StatusOr<StepOutcome> WhisperJob::DoOne() { return started_ ? Listen() : Start(); }

absl::StatusOr<StepOutcome> WhisperJob::Start() {
  const int64_t live_pause = parts_->options.pause_ms * kMsSamples;
  if (parts_->voice_activity->has_model()) {
    absl::StatusOr<std::unique_ptr<VoiceActivity>> activity = parts_->voice_activity->Take();
    if (!activity.ok()) return activity.status();
    activity_ = *std::move(activity);
    planner_ =
        PlanBySpeech([activity = activity_.get()](
                         absl::Span<const float> samples) { return activity->Hear(samples); },
                     static_cast<float>(parts_->options.vad_threshold),
                     audio_.is_live() ? live_pause : std::max(kRecordedPause, live_pause));
  } else {
    planner_ = audio_.is_live() ? PlanByLoudness(live_pause) : PlanFixedWindows();
  }
  first_prompt_ = PromptTokens(parts_->context, request_.prompt);
  prompt_ = first_prompt_;
  started_ = true;
  return StepOutcome::kMore;
}

absl::StatusOr<StepOutcome> WhisperJob::Listen() {
  const absl::StatusOr<bool> looked = planner_->Look(audio_);
  if (!looked.ok()) return looked.status();
  if (!*looked) return StepOutcome::kMore;
  return Follow(planner_->Plan(audio_, position_));
}

absl::StatusOr<StepOutcome> WhisperJob::Follow(const WindowPlan& plan) {
  switch (plan.kind) {
    case WindowPlan::Kind::kNeedMore:
      return ReadMore(plan);
    case WindowPlan::Kind::kSkip:
      position_ = plan.end;
      audio_.DropBefore(position_);
      return StepOutcome::kMore;
    case WindowPlan::Kind::kWindow:
      if (!MayRun()) return HelpAnother();  // and then the plan is the same
      if (absl::Status status = StartFinal(plan); !status.ok()) return status;
      return StepOutcome::kMore;
    case WindowPlan::Kind::kDone:
      if (!audio_.error().ok()) return audio_.error();
      return StepOutcome::kDone;
  }
  return absl::InternalError("a plan of no kind");
}

absl::StatusOr<StepOutcome> WhisperJob::ReadMore(const WindowPlan& plan) {
  if (audio_.over()) return absl::InternalError("more audio is needed than there is");
  if (audio_.Read(kReadSamples) != AudioSource::State::kStarved) return StepOutcome::kMore;
  if (!PartialIsDue(plan) || !MayRun()) return StepOutcome::kWaitingForAudio;
  if (absl::Status status = StartPartial(plan.begin); !status.ok()) return status;
  return StepOutcome::kMore;
}

// A window takes seconds, and a client that speaks live goes on speaking.
void WhisperJob::ReadAhead() {
  for (int i = 0; i < kReadsAhead; ++i) {
    if (!audio_.is_live() || audio_.over() || audio_.end() - position_ >= kMostAhead) return;
    if (audio_.Read(kReadSamples) == AudioSource::State::kStarved) return;
  }
}

absl::StatusOr<StepOutcome> WhisperJob::GoOn(const CancelToken& token, SegmentSink& sink) {
  ReadAhead();
  if (is_partial_ && !made_->is_over) {
    const absl::StatusOr<bool> overtaken = HasOvertaken();
    if (!overtaken.ok()) return overtaken.status();
    if (*overtaken) return StepOutcome::kMore;
  }
  if (!made_->is_over) Advance(token);
  return Deliver(sink);
}

absl::StatusOr<StepOutcome> WhisperJob::Deliver(SegmentSink& sink) {
  if (!made_->status.ok()) return std::exchange(made_, std::nullopt)->status;
  if (!is_partial_) DeliverFinals(sink);
  if (!made_->is_over) return StepOutcome::kMore;
  if (is_partial_) {
    DeliverPartial(sink);
  } else {
    EndFinal();
  }
  DropRun();
  return StepOutcome::kMore;
}

void WhisperJob::Advance(const CancelToken& token) {
  const absl::StatusOr<bool> done = run_->Step(token);
  std::vector<RawSegment> segments = run_->TakeSegments();
  std::move(segments.begin(), segments.end(), std::back_inserter(made_->segments));
  made_->language = run_->language();
  made_->status = done.status();
  made_->is_over = !done.ok() || *done;
  if (!made_->is_over) return;
  if (done.ok()) {
    made_->next_prompt = run_->NextPrompt();
    made_->heard_samples = run_->heard_samples();
  }
  LetGoOfState();
}

// The job whose run this is may be paused, or have other work before it: it finds what was made.
StepOutcome WhisperJob::HelpAnother() {
  const CancelToken never;
  helped_ = true;
  parts_->running.front()->Advance(never);
  return StepOutcome::kMore;
}

absl::StatusOr<bool> WhisperJob::HasOvertaken() {
  absl::StatusOr<bool> looked = planner_->Look(audio_);
  if (!looked.ok() || !*looked) return looked.ok() ? false : looked;
  const WindowPlan plan = planner_->Plan(audio_, position_);
  if (plan.kind == WindowPlan::Kind::kNeedMore) return false;
  DropRun();
  const absl::StatusOr<StepOutcome> followed = Follow(plan);
  if (!followed.ok()) return followed.status();
  return true;
}

absl::Status WhisperJob::StartFinal(const WindowPlan& plan) {
  WindowRun::Request request;
  request.params = FinalParams(parts_->options, request_, parts_->threads.Next());
  const bool is_tail = continues_ && !plan.one_decode && plan.end - plan.begin <= kWithoutPrompt;
  if (!is_tail) request.prompt = prompt_;
  request.one_decode = plan.one_decode;
  is_partial_ = false;
  one_decode_ = plan.one_decode;
  return StartRun(plan.begin, plan.end, std::move(request));
}

absl::Status WhisperJob::StartPartial(int64_t begin) {
  WindowRun::Request request;
  const auto samples = static_cast<size_t>(audio_.end() - begin);
  request.params = PartialParams(parts_->options, request_, parts_->threads.Next(), samples);
  request.prompt = prompt_;
  is_partial_ = true;
  partial_until_ = audio_.end();
  return StartRun(begin, audio_.end(), std::move(request));
}

absl::Status WhisperJob::StartRun(int64_t begin, int64_t end, WindowRun::Request request) {
  const absl::Span<const float> samples = audio_.View(begin, end);
  window_.assign(samples.begin(), samples.end());
  window_begin_ = begin;
  request.samples = window_;
  request.language = language_;
  request.languages = LanguageCount(parts_->model);
  absl::StatusOr<std::unique_ptr<LibraryState>> state = parts_->states->Take();
  if (!state.ok()) return state.status();
  state_ = *std::move(state);
  parts_->running.push_back(this);
  absl::StatusOr<std::unique_ptr<WindowRun>> run =
      WindowRun::Create(parts_->context, state_.get(), parts_->log, std::move(request));
  if (!run.ok()) {
    LetGoOfState();
    return run.status();
  }
  run_ = *std::move(run);
  made_.emplace();
  return absl::OkStatus();
}

bool WhisperJob::PartialIsDue(const WindowPlan& plan) const {
  if (!request_.partial_results || !audio_.is_live() || plan.begin < 0) return false;
  const int64_t fresh = audio_.end() - std::max(plan.begin, partial_until_);
  return fresh >= parts_->options.partial_ms * kMsSamples;
}

void WhisperJob::DeliverFinals(SegmentSink& sink) {
  const std::vector<RawSegment> made = std::exchange(made_->segments, {});
  const int64_t begin_ms = window_begin_ / kMsSamples;
  const int64_t end_ms = (window_begin_ + static_cast<int64_t>(window_.size())) / kMsSamples;
  for (const RawSegment& raw : made) {
    std::optional<TranscribedSegment> segment =
        builder_.Build(raw, begin_ms, end_ms, made_->language);
    if (!segment.has_value()) continue;
    heard_language_ = made_->language;
    // What a model makes of noise says nothing about the language of what is said later.
    const bool is_speech = raw.no_speech_prob <= parts_->options.no_speech_thold;
    if (language_.empty() && is_speech) language_ = made_->language;
    sink.OnSegment(*std::move(segment));
  }
}

void WhisperJob::DeliverPartial(SegmentSink& sink) {
  SegmentBuilder builder = builder_;
  const int64_t begin_ms = window_begin_ / kMsSamples;
  for (const RawSegment& raw : std::exchange(made_->segments, {})) {
    std::optional<TranscribedSegment> segment =
        builder.Build(raw, begin_ms, partial_until_ / kMsSamples, made_->language);
    if (!segment.has_value() || segment->text == last_partial_) continue;
    last_partial_ = segment->text;
    segment->is_partial = true;
    segment->words.clear();  // their times were not asked for
    sink.OnSegment(*std::move(segment));
  }
}

void WhisperJob::EndFinal() {
  continues_ = one_decode_;
  prompt_ = one_decode_ ? made_->next_prompt : first_prompt_;
  position_ = window_begin_ + made_->heard_samples;
  audio_.DropBefore(position_);
  partial_until_ = 0;
  last_partial_.clear();
}

// A state on which random numbers were drawn is not used again: what a window gives does not depend
// on those before it, nor on which job had the state.
void WhisperJob::LetGoOfState() {
  const bool as_new = run_ == nullptr || !run_->drew_random_numbers();
  run_.reset();
  if (state_ == nullptr) return;
  parts_->states->GiveBack(std::move(state_), as_new);
  std::erase(parts_->running, this);
}

void WhisperJob::DropRun() {
  LetGoOfState();
  made_.reset();
  window_.clear();
}

TranscriptionProgress WhisperJob::Progress() const {
  TranscriptionProgress progress;
  progress.language = !language_.empty() ? language_ : heard_language_;
  if (progress.language.empty()) progress.language = kUndetermined;
  progress.audio_ms = audio_.end() / kMsSamples;
  progress.audio_total_ms = audio_.over() ? progress.audio_ms : audio_.total_ms();
  return progress;
}

}  // namespace superfluid
