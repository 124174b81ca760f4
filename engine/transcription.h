#ifndef SUPERFLUID_ENGINE_TRANSCRIPTION_H_
#define SUPERFLUID_ENGINE_TRANSCRIPTION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "engine/cancel_token.h"

namespace superfluid {

// What one transcription asks of an engine.
struct TranscriptionParams {
  std::string language;    // BCP-47 or ISO 639-1 code; empty: the engine detects or assumes it
  bool translate = false;  // into English; engines that cannot return Unimplemented
  bool timestamps = true;  // word times, where the engine has them
  bool partial_results = false;  // also report segments that may still change (is_partial)
  std::string prompt;            // text that precedes the audio, UTF-8; may be ignored
};

// Times count from the first sample of the audio, in milliseconds.
struct TranscribedWord {
  int64_t start_ms = 0;
  int64_t end_ms = 0;     // >= start_ms
  std::string text;       // UTF-8, without surrounding space
  float probability = 0;  // posterior in [0, 1]
};

// A stretch of speech. Final segments arrive in order, do not overlap and never change; their
// `text` is whole UTF-8 characters. A partial segment replaces the previous partial one.
struct TranscribedSegment {
  int64_t start_ms = 0;
  int64_t end_ms = 0;
  std::string text;
  bool is_partial = false;
  float avg_logprob = 0;        // mean natural log probability of the tokens or words
  float no_speech_prob = 0;     // [0, 1]
  float compression_ratio = 0;  // text bytes / deflated bytes; 0 if not computed
  float temperature = 0;        // the sampling temperature that produced the text
  std::vector<TranscribedWord> words;
};

// Where a job puts its segments during Step. Called on the engine's thread only, within Step.
class SegmentSink {
 public:
  virtual ~SegmentSink() = default;
  virtual void OnSegment(TranscribedSegment segment) = 0;
};

// How long one micro-step should take. An engine picks its slice (so many blocks of audio, one
// encoder layer group, one token) to stay under it; a single indivisible piece of work may exceed
// it.
struct StepBudget {
  absl::Duration target = absl::Milliseconds(10);
};

enum class StepOutcome {
  kMore,             // call Step again when it is this job's turn
  kWaitingForAudio,  // the audio ran dry (kStarved); call Step again when there is more
  kDone,             // every segment was delivered; Step must not be called again
};

// What is known of a transcription so far; complete once Step returned kDone.
struct TranscriptionProgress {
  std::string language;        // as recognised or assumed, never empty after the first Step
  int64_t audio_ms = 0;        // audio consumed so far
  int64_t audio_total_ms = 0;  // 0 if not known (live audio)
};

// One transcription in progress: a resumable object that does a bounded piece of work per Step.
//
// Threads: the engine's thread, like Engine itself; destruction too. Lifetime: must be destroyed
// before its Engine. Destroying a job that is not done abandons it, and must be as cheap as a step:
// that is what a cancel costs.
class TranscriptionJob {
 public:
  virtual ~TranscriptionJob() = default;

  // Does one micro-step. Errors: Cancelled if `token` was set (the caller then destroys the job;
  // the segments already delivered stay valid); InvalidArgument for audio that cannot be decoded;
  // anything else is an engine failure. After an error Step is not called again.
  virtual absl::StatusOr<StepOutcome> Step(const StepBudget& budget, const CancelToken& token,
                                           SegmentSink& sink) = 0;

  virtual TranscriptionProgress Progress() const = 0;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_TRANSCRIPTION_H_
