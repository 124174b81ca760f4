#ifndef SUPERFLUID_ENGINE_POCKETSPHINX_POCKETSPHINX_JOB_H_
#define SUPERFLUID_ENGINE_POCKETSPHINX_POCKETSPHINX_JOB_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/audio/audio_source.h"
#include "engine/cancel_token.h"
#include "engine/pocketsphinx/decoder.h"
#include "engine/pocketsphinx/decoder_pool.h"
#include "engine/pocketsphinx/options.h"
#include "engine/pocketsphinx/speech_frames.h"
#include "engine/transcription.h"

namespace superfluid {

// A transcription in progress on a decoder of the pool.
//
//   waiting for a decoder
//      |
//      v      pause, or the segment is too long
//   listening ------------------------------> tail -> ending -> lattice -> best path -+
//      ^ |                                                                            |
//      | | end of audio, or an error of it               segment delivered            v
//      | +----------------------------> done        <------------------------- probabilities
//      +------------------------------------------------------/
//
// One unit of work is 10 ms of audio, one frame searched, or one of the arrows on the right; a step
// does as many as fit its budget, and those on the right (5 to 15 ms) only as its first.
// Destroying a job gives its decoder back, whatever it is in the middle of, and costs nothing.
class PocketsphinxJob : public TranscriptionJob {
 public:
  // `pool` outlives the job. `open_jobs` counts the jobs that exist.
  PocketsphinxJob(DecoderPool* pool, std::shared_ptr<int> open_jobs,
                  const PocketsphinxOptions& options, const TranscriptionParams& params,
                  std::unique_ptr<AudioSource> audio);
  ~PocketsphinxJob() override;
  PocketsphinxJob(const PocketsphinxJob&) = delete;
  PocketsphinxJob& operator=(const PocketsphinxJob&) = delete;

  absl::StatusOr<StepOutcome> Step(const StepBudget& budget, const CancelToken& token,
                                   SegmentSink& sink) override;

  TranscriptionProgress Progress() const override;

 private:
  enum class Phase {
    kWaiting,
    kListening,
    kTail,
    kEnding,
    kLattice,
    kBestPath,
    kProbabilities,
  };

  bool NextIsLong() const { return phase_ >= Phase::kEnding; }

  // One unit of work each.
  absl::StatusOr<StepOutcome> DoOne(SegmentSink& sink);
  absl::StatusOr<StepOutcome> TakeDecoder();
  absl::StatusOr<StepOutcome> Listen(SegmentSink& sink);
  absl::StatusOr<StepOutcome> SearchTail();
  absl::StatusOr<StepOutcome> EndUtterance();
  absl::StatusOr<StepOutcome> BuildLattice(SegmentSink& sink);
  absl::StatusOr<StepOutcome> FindBestPath(SegmentSink& sink);

  absl::StatusOr<StepOutcome> OnSpeech(SpeechFrames::Event event, SegmentSink& sink);
  bool IsTimeToCut() const;
  void DeliverPartial(SegmentSink& sink);
  void Deliver(const std::vector<DecodedWord>& words, SegmentSink& sink);
  TranscribedSegment MakeSegment(const std::vector<DecodedWord>& words) const;

  DecoderPool* pool_;
  std::shared_ptr<int> open_jobs_;
  int soft_limit_frames_;  // cut at the next moment of silence
  int hard_limit_frames_;  // cut
  std::string language_;
  bool with_words_;
  bool with_partials_;

  std::unique_ptr<AudioSource> audio_;  // until the decoder is there
  std::unique_ptr<Decoder> decoder_;
  std::unique_ptr<SpeechFrames> frames_;  // destroyed before decoder_ is given back
  Phase phase_ = Phase::kWaiting;
  bool input_over_ = false;
  absl::Status input_error_;  // to be returned after the last segment

  int64_t first_frame_ = 0;  // of the utterance, since the start of the audio
  int frame_count_ = 0;      // of the utterance; 0: none is open
  int tail_left_ = 0;
  Cepstrum last_frame_;
  std::string last_partial_;
  int64_t delivered_ms_ = 0;  // where the last final segment ended
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_POCKETSPHINX_POCKETSPHINX_JOB_H_
