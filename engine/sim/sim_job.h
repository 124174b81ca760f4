#ifndef SUPERFLUID_ENGINE_SIM_SIM_JOB_H_
#define SUPERFLUID_ENGINE_SIM_SIM_JOB_H_

#include <memory>
#include <vector>

#include "engine/audio/audio_source.h"
#include "engine/sim/sim_clock.h"
#include "engine/sim/sim_options.h"
#include "engine/sim/sim_segments.h"
#include "engine/sim/sim_words.h"
#include "engine/transcription.h"

namespace superfluid {

// One transcription of the sim engine. A step takes one slice of audio (a segment's audio divided
// by steps_per_segment) and `step` of time; the last slice of a segment delivers it. A segment
// whose audio is silence is not delivered, unless the number of segments was asked for; then
// segments after the end of the audio are empty stretches at its end. How the source cuts its
// blocks makes no difference.
//
// Threads, lifetime, errors: those of TranscriptionJob, and the faults asked for.
class SimJob : public TranscriptionJob {
 public:
  // `alive` is given back, with the engine's count of jobs, when the job goes.
  SimJob(SimOptions options, TranscriptionParams params, std::unique_ptr<AudioSource> audio,
         std::shared_ptr<SimClock> clock, std::shared_ptr<const void> alive);

  absl::StatusOr<StepOutcome> Step(const StepBudget& budget, const CancelToken& token,
                                   SegmentSink& sink) override;
  TranscriptionProgress Progress() const override;

 private:
  enum class Slice {
    kReady,    // full, or as full as the end of the audio lets it be
    kStarved,  // waits for live audio
    kPending,  // the source had nothing at this moment
  };

  absl::StatusOr<Slice> FillSlice();
  absl::Status Misbehave();
  absl::Status StopForCancel(SegmentSink& sink);
  StepOutcome EndSlice(SegmentSink& sink);
  void DeliverPartial(SegmentSink& sink);
  void DeliverSegment(SegmentSink& sink);
  SimStretch Stretch() const;

  const SimOptions options_;
  const TranscriptionParams params_;
  const std::unique_ptr<AudioSource> audio_;
  const std::shared_ptr<SimClock> clock_;
  const std::shared_ptr<const void> alive_;

  bool audio_ended_ = false;
  SimStep step_ = 0;          // slices begun
  std::vector<float> slice_;  // room for one
  size_t slice_frames_ = 0;   // of it, read so far
  int64_t slices_in_segment_ = 0;
  int64_t segment_index_ = 0;
  int64_t segment_start_frame_ = 0;
  int64_t frames_ = 0;  // read so far
  SampleHash hash_;     // of the current segment
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_SIM_SIM_JOB_H_
