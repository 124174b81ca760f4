#include "engine/pocketsphinx/pocketsphinx_job.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <utility>

#include "absl/time/time.h"

namespace superfluid {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::microseconds kWaitForDecoder(1000);
constexpr int kTailFrames = 3;     // the last frames have no features until these follow
constexpr int kCheckCutEvery = 5;  // frames; looking costs about as much as a frame's tenth
constexpr int kSilenceToCut = 10;  // frames, once a segment is past its soft limit
constexpr int kPartialEvery = 25;  // frames
constexpr double kLeastProbability = 1e-6;  // keeps logarithms finite

}  // namespace

PocketsphinxJob::PocketsphinxJob(DecoderPool* pool, std::shared_ptr<int> open_jobs,
                                 const PocketsphinxOptions& options,
                                 const TranscriptionParams& params,
                                 std::unique_ptr<AudioSource> audio)
    : pool_(pool),
      open_jobs_(std::move(open_jobs)),
      soft_limit_frames_(options.max_segment_ms / kFrameMs / 2),
      hard_limit_frames_(options.max_segment_ms / kFrameMs),
      language_(PrimaryLanguage(options.language)),
      with_words_(params.timestamps),
      with_partials_(params.partial_results),
      audio_(std::move(audio)) {
  ++*open_jobs_;
}

PocketsphinxJob::~PocketsphinxJob() {
  --*open_jobs_;
  frames_.reset();
  if (decoder_ != nullptr) pool_->GiveBack(std::move(decoder_));
}

absl::StatusOr<StepOutcome> PocketsphinxJob::Step(const StepBudget& budget,
                                                  const CancelToken& token, SegmentSink& sink) {
  const auto deadline = Clock::now() + absl::ToChronoNanoseconds(budget.target);
  bool first = true;
  while (first || (Clock::now() < deadline && !NextIsLong())) {
    if (token.cancelled()) return absl::CancelledError("the transcription was cancelled");
    absl::StatusOr<StepOutcome> outcome = DoOne(sink);
    if (!outcome.ok() || *outcome != StepOutcome::kMore) return outcome;
    first = false;
  }
  return StepOutcome::kMore;
}

absl::StatusOr<StepOutcome> PocketsphinxJob::DoOne(SegmentSink& sink) {
  switch (phase_) {
    case Phase::kWaiting:
      return TakeDecoder();
    case Phase::kListening:
      return Listen(sink);
    case Phase::kTail:
      return SearchTail();
    case Phase::kEnding:
      return EndUtterance();
    case Phase::kLattice:
      return BuildLattice(sink);
    case Phase::kBestPath:
      return FindBestPath(sink);
    case Phase::kProbabilities:
      decoder_->ComputeProbabilities();
      Deliver(decoder_->LatticeWords(), sink);
      return StepOutcome::kMore;
  }
  return absl::InternalError("a transcription is in no phase");
}

absl::StatusOr<StepOutcome> PocketsphinxJob::TakeDecoder() {
  absl::StatusOr<std::unique_ptr<Decoder>> decoder = pool_->Take(kWaitForDecoder);
  if (!decoder.ok()) return decoder.status();
  if (*decoder == nullptr) return StepOutcome::kMore;
  decoder_ = *std::move(decoder);
  absl::StatusOr<std::unique_ptr<FrontEnd>> front_end = decoder_->MakeFrontEnd();
  if (!front_end.ok()) return front_end.status();
  frames_ = std::make_unique<SpeechFrames>(std::move(audio_), *std::move(front_end),
                                           decoder_->cepstral_mean_prior());
  phase_ = Phase::kListening;
  return StepOutcome::kMore;
}

absl::StatusOr<StepOutcome> PocketsphinxJob::Listen(SegmentSink& sink) {
  if (std::optional<SpeechFrames::Event> event = frames_->Next(); event.has_value()) {
    if (event->kind == SpeechFrames::Event::Kind::kSpeech) {
      return OnSpeech(*std::move(event), sink);
    }
    if (frame_count_ > 0) phase_ = Phase::kTail;
    return StepOutcome::kMore;
  }
  if (input_over_) {
    if (!input_error_.ok()) return input_error_;
    return StepOutcome::kDone;
  }
  absl::StatusOr<AudioSource::State> state = frames_->Advance();
  input_error_ = state.status();
  input_over_ = !state.ok() || *state == AudioSource::State::kEnd;
  const bool starved = state.ok() && *state == AudioSource::State::kStarved;
  return starved ? StepOutcome::kWaitingForAudio : StepOutcome::kMore;
}

absl::StatusOr<StepOutcome> PocketsphinxJob::OnSpeech(SpeechFrames::Event event,
                                                      SegmentSink& sink) {
  if (frame_count_ == 0) {
    if (absl::Status status = decoder_->StartUtterance(); !status.ok()) return status;
    first_frame_ = event.number;
  }
  last_frame_ = event.frame;
  if (absl::Status status = decoder_->Search(std::move(event.frame)); !status.ok()) return status;
  ++frame_count_;
  if (IsTimeToCut()) {
    phase_ = Phase::kTail;
  } else if (with_partials_ && frame_count_ % kPartialEvery == 0) {
    DeliverPartial(sink);
  }
  tail_left_ = kTailFrames;
  return StepOutcome::kMore;
}

bool PocketsphinxJob::IsTimeToCut() const {
  if (frame_count_ >= hard_limit_frames_) return true;
  return frame_count_ >= soft_limit_frames_ && frame_count_ % kCheckCutEvery == 0 &&
         decoder_->TrailingSilence() >= kSilenceToCut;
}

absl::StatusOr<StepOutcome> PocketsphinxJob::SearchTail() {
  if (absl::Status status = decoder_->Search(last_frame_); !status.ok()) return status;
  if (--tail_left_ == 0) phase_ = Phase::kEnding;
  return StepOutcome::kMore;
}

absl::StatusOr<StepOutcome> PocketsphinxJob::EndUtterance() {
  if (absl::Status status = decoder_->EndUtterance(); !status.ok()) return status;
  frames_->UtteranceEnded();
  phase_ = Phase::kLattice;
  return StepOutcome::kMore;
}

// Noise can leave the search without a lattice, or without a path through it; what the search
// itself found stands then, without probabilities.
absl::StatusOr<StepOutcome> PocketsphinxJob::BuildLattice(SegmentSink& sink) {
  phase_ = Phase::kBestPath;
  if (!decoder_->BuildLattice()) Deliver(decoder_->SearchedWords(), sink);
  return StepOutcome::kMore;
}

absl::StatusOr<StepOutcome> PocketsphinxJob::FindBestPath(SegmentSink& sink) {
  phase_ = Phase::kProbabilities;
  if (!decoder_->FindBestPath()) Deliver(decoder_->SearchedWords(), sink);
  return StepOutcome::kMore;
}

void PocketsphinxJob::DeliverPartial(SegmentSink& sink) {
  TranscribedSegment segment = MakeSegment(decoder_->SearchedWords());
  if (segment.text.empty() || segment.text == last_partial_) return;
  last_partial_ = segment.text;
  segment.is_partial = true;
  sink.OnSegment(std::move(segment));
}

void PocketsphinxJob::Deliver(const std::vector<DecodedWord>& words, SegmentSink& sink) {
  TranscribedSegment segment = MakeSegment(words);
  phase_ = Phase::kListening;
  frame_count_ = 0;
  last_partial_.clear();
  if (segment.text.empty()) return;
  delivered_ms_ = segment.end_ms;
  sink.OnSegment(std::move(segment));
}

TranscribedSegment PocketsphinxJob::MakeSegment(const std::vector<DecodedWord>& words) const {
  TranscribedSegment segment;
  int64_t previous_ms = delivered_ms_;
  double log_probability = 0;
  for (const DecodedWord& decoded : words) {
    // The tail is not audio, and the last frame may reach beyond the end of the recording.
    const int last_frame = std::min(decoded.last_frame, frame_count_ - 1);
    const int64_t start_ms = (first_frame_ + decoded.first_frame) * kFrameMs;
    const int64_t end_ms =
        std::min((first_frame_ + last_frame + 1) * kFrameMs, frames_->audio_ms());
    TranscribedWord word;
    word.start_ms = std::clamp(start_ms, previous_ms, std::max(previous_ms, end_ms));
    word.end_ms = std::max(word.start_ms, end_ms);
    word.text = decoded.text;
    word.probability = decoded.probability;
    previous_ms = word.end_ms;
    log_probability += std::log(std::max<double>(decoded.probability, kLeastProbability));
    if (!segment.text.empty()) segment.text += ' ';
    segment.text += decoded.text;
    segment.words.push_back(std::move(word));
  }
  if (segment.words.empty()) return segment;
  segment.start_ms = segment.words.front().start_ms;
  segment.end_ms = segment.words.back().end_ms;
  segment.avg_logprob =
      static_cast<float>(log_probability / static_cast<double>(segment.words.size()));
  if (!with_words_) segment.words.clear();
  return segment;
}

TranscriptionProgress PocketsphinxJob::Progress() const {
  TranscriptionProgress progress;
  progress.language = language_;
  if (frames_ == nullptr) {
    progress.audio_total_ms =
        audio_ == nullptr
            ? 0
            : absl::ToInt64Milliseconds(audio_->TotalDuration().value_or(absl::ZeroDuration()));
    return progress;
  }
  progress.audio_ms = frames_->audio_ms();
  progress.audio_total_ms =
      input_over_ ? progress.audio_ms
                  : absl::ToInt64Milliseconds(frames_->total().value_or(absl::ZeroDuration()));
  return progress;
}

}  // namespace superfluid
