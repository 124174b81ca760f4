#ifndef SUPERFLUID_ENGINE_WHISPER_VOICE_ACTIVITY_H_
#define SUPERFLUID_ENGINE_WHISPER_VOICE_ACTIVITY_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/whisper/ggml_names.h"
#include "engine/whisper/library_log.h"

namespace superfluid {

// A voice activity model that listens to one recording: it has a memory. On one thread, which is
// faster than more.
//
// Threads: one at a time.
class VoiceActivity {
 public:
  // Loads the model, about 1 MB and 5 ms. Errors: those of CheckVadModel; FailedPrecondition with
  // the library's reason.
  static absl::StatusOr<std::unique_ptr<VoiceActivity>> Load(const std::string& path,
                                                             LibraryLog& log);

  // The probability of speech in each of the blocks of kSpeechBlockSamples that follow those of the
  // last call; the last one may be shorter, at the end of the audio. 0.1 ms a block. Errors:
  // Internal.
  absl::StatusOr<std::vector<float>> Hear(absl::Span<const float> samples);

  // Forgets what was heard.
  void Reset();

 private:
  struct Free {
    void operator()(whisper_vad_context* context) const { whisper_vad_free(context); }
  };
  explicit VoiceActivity(whisper_vad_context* context) : context_(context) {}

  std::unique_ptr<whisper_vad_context, Free> context_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_WHISPER_VOICE_ACTIVITY_H_
