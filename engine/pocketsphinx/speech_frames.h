#ifndef SUPERFLUID_ENGINE_POCKETSPHINX_SPEECH_FRAMES_H_
#define SUPERFLUID_ENGINE_POCKETSPHINX_SPEECH_FRAMES_H_

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/audio/audio_source.h"
#include "engine/pocketsphinx/cepstral_mean.h"
#include "engine/pocketsphinx/front_end.h"

namespace superfluid {

// A recording as the search wants it: normalised frames of speech, and the pauses between.
//
// The first frames of a stream are held back until enough of it was seen to normalise them: three
// seconds of speech of a recording, one of live audio, or less if a pause comes first.
//
// Deterministic: what comes out depends on the samples only, not on how they arrive.
// Threads: one at a time.
class SpeechFrames {
 public:
  struct Event {
    enum class Kind { kSpeech, kPause };
    Kind kind = Kind::kPause;
    Cepstrum frame;      // of speech
    int64_t number = 0;  // of the frame since the start of the audio, 10 ms each
  };

  // `mean_prior`: see CepstralMean; nullopt for no normalisation.
  SpeechFrames(std::unique_ptr<AudioSource> audio, std::unique_ptr<FrontEnd> front_end,
               std::optional<Cepstrum> mean_prior);

  // The next event, if one is ready.
  std::optional<Event> Next();

  // Reads and processes up to 10 ms of audio. To be called when Next has nothing; not after kEnd or
  // an error. At kEnd, and at an error, what was held back becomes ready. Errors: the source's.
  absl::StatusOr<AudioSource::State> Advance();

  // Lets the normalisation follow the speaker; to be called between two utterances.
  void UtteranceEnded();

  // Audio taken so far.
  int64_t audio_ms() const { return samples_ / (kEngineSampleRateHz / 1000); }

  std::optional<absl::Duration> total() const { return audio_->TotalDuration(); }

 private:
  void ProcessBlock();

  std::unique_ptr<AudioSource> audio_;
  std::unique_ptr<FrontEnd> front_end_;
  std::optional<CepstralMean> mean_;
  int64_t warm_up_frames_;  // still to be seen before anything is released
  std::array<float, kFrameSamples> block_ = {};
  size_t filled_ = 0;  // samples in block_
  int64_t samples_ = 0;
  std::vector<Cepstrum> fresh_;  // what the front end just released
  std::deque<Event> events_;
  bool was_in_speech_ = false;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_POCKETSPHINX_SPEECH_FRAMES_H_
