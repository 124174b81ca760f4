#ifndef SUPERFLUID_ENGINE_WHISPER_WHISPER_JOB_H_
#define SUPERFLUID_ENGINE_WHISPER_WHISPER_JOB_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/audio/audio_source.h"
#include "engine/cancel_token.h"
#include "engine/compute_threads.h"
#include "engine/transcription.h"
#include "engine/whisper/audio_buffer.h"
#include "engine/whisper/library_log.h"
#include "engine/whisper/model_file.h"
#include "engine/whisper/options.h"
#include "engine/whisper/segment_builder.h"
#include "engine/whisper/state_pool.h"
#include "engine/whisper/vad_pool.h"
#include "engine/whisper/window_planner.h"
#include "engine/whisper/window_run.h"

namespace superfluid {

class WhisperJob;

// What the jobs of an engine share. Outlives them.
struct WhisperParts {
  whisper_context* context = nullptr;
  WhisperModelFile model;
  WhisperOptions options;
  ThreadChoice threads{1};
  LibraryLog* log = nullptr;
  StatePool* states = nullptr;
  VadPool* voice_activity = nullptr;
  int open_jobs = 0;
  std::vector<WhisperJob*> running;  // those that have a run, and so a state; the oldest run first
};

// A transcription in progress: windows of audio, one after the other.
//
//              +-------- silence ---------+
//              v                          |      window
//   [start] -> listening (read, look) ----+-----------------> running -+
//              ^   |                                                   |
//              |   +-- audio ran dry: waiting; if live, a partial run  |
//              |   +-- end of audio: [done]                            |
//              +------------- segments delivered, position moved ------+
//
// One step listens for as long as its budget allows, or goes on with a run: one spectrogram of a
// window, one encode or one decode.
//
// A job has a state of the library's only while it has a run. One that wants to run when all states
// are taken spends its steps on the run that began first, until that has ended: whatever the order
// of the jobs' steps, the engine's time goes into some run, and each job pays for as much of it as
// the others. What a run made waits for its own job's next step. A partial result is not worth
// waiting for: it comes later.
class WhisperJob : public TranscriptionJob {
 public:
  // `language`: of the library, empty to detect it. `parts` outlives the job.
  WhisperJob(WhisperParts* parts, const TranscriptionParams& request, std::string language,
             std::unique_ptr<AudioSource> audio);
  ~WhisperJob() override;
  WhisperJob(const WhisperJob&) = delete;
  WhisperJob& operator=(const WhisperJob&) = delete;

  absl::StatusOr<StepOutcome> Step(const StepBudget& budget, const CancelToken& token,
                                   SegmentSink& sink) override;

  TranscriptionProgress Progress() const override;

 private:
  // One unit of work each.
  absl::StatusOr<StepOutcome> DoOne();
  absl::StatusOr<StepOutcome> Start();
  absl::StatusOr<StepOutcome> Listen();
  absl::StatusOr<StepOutcome> GoOn(const CancelToken& token, SegmentSink& sink);
  absl::StatusOr<StepOutcome> Deliver(SegmentSink& sink);
  // Goes on with the run by one unit, for this job or for another that waits for the state.
  void Advance(const CancelToken& token);
  bool MayRun() const { return parts_->states->taken() < parts_->options.states; }
  StepOutcome HelpAnother();

  absl::StatusOr<StepOutcome> Follow(const WindowPlan& plan);
  absl::StatusOr<StepOutcome> ReadMore(const WindowPlan& plan);
  void ReadAhead();
  absl::StatusOr<bool> HasOvertaken();  // the partial run: its window is complete

  absl::Status StartFinal(const WindowPlan& plan);
  absl::Status StartPartial(int64_t begin);
  absl::Status StartRun(int64_t begin, int64_t end, WindowRun::Request request);
  bool PartialIsDue(const WindowPlan& plan) const;

  void DeliverFinals(SegmentSink& sink);
  void DeliverPartial(SegmentSink& sink);
  void EndFinal();
  void LetGoOfState();
  void DropRun();

  WhisperParts* parts_;
  TranscriptionParams request_;
  std::string language_;        // empty: not known yet
  std::string heard_language_;  // of the last segment
  AudioBuffer audio_;
  SegmentBuilder builder_;

  bool started_ = false;
  bool helped_ = false;  // in this step
  std::unique_ptr<VoiceActivity> activity_;
  std::unique_ptr<WindowPlanner> planner_;
  std::vector<whisper_token> first_prompt_;  // the client's
  std::vector<whisper_token> prompt_;        // of the next window
  bool continues_ = false;                   // the next window is in the middle of speech
  int64_t position_ = 0;                     // samples that are dealt with

  // Of the run in progress, or of the one that ended since the last step.
  std::unique_ptr<LibraryState> state_;  // null: there is none
  std::unique_ptr<WindowRun> run_;       // the same
  struct Made {
    std::vector<RawSegment> segments;  // that were not delivered
    std::string language;
    bool is_over = false;
    absl::Status status;
    std::vector<whisper_token> next_prompt;
    int64_t heard_samples = 0;
  };
  std::optional<Made> made_;
  std::vector<float> window_;
  int64_t window_begin_ = 0;
  bool is_partial_ = false;
  bool one_decode_ = false;

  int64_t partial_until_ = 0;  // the last partial result covers the audio up to here
  std::string last_partial_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_WHISPER_WHISPER_JOB_H_
