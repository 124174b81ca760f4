#include "engine/sim/sim_job.h"

#include <new>
#include <stdexcept>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"

namespace superfluid {
namespace {

// Ends the process as a fault of an engine does: writes where nothing is.
void CrashInAStep() {
  volatile int* volatile nowhere = nullptr;
  *nowhere = 1;
}

int64_t FramesToMs(int64_t frames) { return frames * 1000 / kEngineSampleRateHz; }

// The frames of slice `index` of a segment: equal parts, the remainder spread over them.
size_t SliceFrames(const SimOptions& options, int64_t index) {
  const int64_t frames = options.segment_ms * kEngineSampleRateHz / 1000;
  const int64_t parts = options.steps_per_segment;
  return static_cast<size_t>(frames * (index + 1) / parts - frames * index / parts);
}

}  // namespace

SimJob::SimJob(SimOptions options, TranscriptionParams params, std::unique_ptr<AudioSource> audio,
               std::shared_ptr<SimClock> clock, std::shared_ptr<const void> alive)
    : options_(std::move(options)),
      params_(std::move(params)),
      audio_(std::move(audio)),
      clock_(std::move(clock)),
      alive_(std::move(alive)),
      slice_(SliceFrames(options_, 0) + 1) {}

SimStretch SimJob::Stretch() const {
  return {segment_index_, FramesToMs(segment_start_frame_), FramesToMs(frames_), hash_.value()};
}

absl::StatusOr<SimJob::Slice> SimJob::FillSlice() {
  const size_t wanted = SliceFrames(options_, slices_in_segment_);
  while (!audio_ended_ && slice_frames_ < wanted) {
    const absl::Span<float> room(slice_.data() + slice_frames_, wanted - slice_frames_);
    const absl::StatusOr<AudioSource::Block> block = audio_->Read(room);
    if (!block.ok()) return block.status();
    slice_frames_ += block->frames;
    audio_ended_ = block->state == AudioSource::State::kEnd;
    if (block->state == AudioSource::State::kStarved && slice_frames_ < wanted) {
      return Slice::kStarved;
    }
    if (block->state == AudioSource::State::kMore && block->frames == 0) return Slice::kPending;
  }
  return Slice::kReady;
}

absl::Status SimJob::Misbehave() {
  const SimFaults& faults = options_.faults;
  if (step_ == faults.slow_at_step) clock_->Spend(faults.slow);
  if (step_ == faults.stuck_at_step) clock_->Hang(faults.stuck);
  if (step_ == faults.crash_at_step) CrashInAStep();
  if (step_ == faults.throw_at_step) throw std::runtime_error("a fault that was asked for");
  if (step_ == faults.out_of_memory_at_step) throw std::bad_alloc();
  if (step_ == faults.fail_at_step) {
    return absl::InternalError(absl::StrCat("step ", step_, " failed, as asked for"));
  }
  return absl::OkStatus();
}

absl::Status SimJob::StopForCancel(SegmentSink& sink) {
  if (options_.faults.emit_after_cancel) DeliverSegment(sink);
  return absl::CancelledError("the transcription was cancelled");
}

void SimJob::DeliverSegment(SegmentSink& sink) {
  if (options_.segments > 0 || !hash_.silent()) {
    sink.OnSegment(MakeSimSegment(options_, Stretch(), params_.timestamps, /*partial=*/false));
  }
  ++segment_index_;
  slices_in_segment_ = 0;
  segment_start_frame_ = frames_;
  hash_ = SampleHash();
}

void SimJob::DeliverPartial(SegmentSink& sink) {
  if (!params_.partial_results || !options_.partials || hash_.silent()) return;
  sink.OnSegment(MakeSimSegment(options_, Stretch(), params_.timestamps, /*partial=*/true));
}

StepOutcome SimJob::EndSlice(SegmentSink& sink) {
  hash_.Add(absl::MakeConstSpan(slice_.data(), slice_frames_));
  frames_ += static_cast<int64_t>(slice_frames_);
  slice_frames_ = 0;
  ++slices_in_segment_;
  const bool last_of_audio = audio_ended_ && options_.segments == 0;
  if (last_of_audio || slices_in_segment_ == options_.steps_per_segment) {
    DeliverSegment(sink);
  } else {
    DeliverPartial(sink);
  }
  const bool last_asked_for = options_.segments > 0 && segment_index_ == options_.segments;
  return last_of_audio || last_asked_for ? StepOutcome::kDone : StepOutcome::kMore;
}

absl::StatusOr<StepOutcome> SimJob::Step(const StepBudget& /*budget*/, const CancelToken& token,
                                         SegmentSink& sink) {
  if (token.cancelled()) return StopForCancel(sink);
  const absl::StatusOr<Slice> slice = FillSlice();
  if (!slice.ok()) return slice.status();
  if (*slice == Slice::kStarved) return StepOutcome::kWaitingForAudio;
  if (*slice == Slice::kPending) return StepOutcome::kMore;
  ++step_;
  clock_->Spend(options_.step);
  if (absl::Status status = Misbehave(); !status.ok()) return status;
  if (token.cancelled()) return StopForCancel(sink);
  return EndSlice(sink);
}

TranscriptionProgress SimJob::Progress() const {
  TranscriptionProgress progress;
  progress.language = params_.language.empty() ? "en" : params_.language;
  progress.audio_ms = FramesToMs(frames_);
  const std::optional<absl::Duration> total = audio_->TotalDuration();
  if (total.has_value()) progress.audio_total_ms = absl::ToInt64Milliseconds(*total);
  return progress;
}

}  // namespace superfluid
