#ifndef SUPERFLUID_ENGINE_WHISPER_WINDOW_RUN_H_
#define SUPERFLUID_ENGINE_WHISPER_WINDOW_RUN_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/cancel_token.h"
#include "engine/whisper/fiber.h"
#include "engine/whisper/ggml_names.h"
#include "engine/whisper/library_log.h"
#include "engine/whisper/library_state.h"
#include "engine/whisper/raw_segment.h"

namespace superfluid {

// The library's transcription of one window of audio (whisper_full_with_state), in steps: it runs
// on a fiber, which stops wherever the library calls back. What comes out is what the library alone
// would have made of the samples.
//
// Threads: one. Lifetime: within the context and the state. Destroying one that is not done costs
// next to nothing, and the state can be used again.
class WindowRun {
 public:
  struct Request {
    // How to decode. Pointers and callbacks in it are set here.
    whisper_full_params params{};
    // Audio at 16 kHz; must live as long as the run.
    absl::Span<const float> samples;
    std::string language;  // a code that the model has; empty: the most likely one of `languages`
    int languages = 1;     // that the model has
    std::vector<whisper_token> prompt;  // what was said before
    // More audio follows: end after the first decode, since the rest of the window is better heard
    // together with what follows it.
    bool one_decode = false;
  };

  // Errors: ResourceExhausted.
  static absl::StatusOr<std::unique_ptr<WindowRun>> Create(whisper_context* context,
                                                           LibraryState* state, LibraryLog* log,
                                                           Request request);
  WindowRun(const WindowRun&) = delete;
  WindowRun& operator=(const WindowRun&) = delete;
  ~WindowRun();

  // Goes on to the library's next look around: at most one spectrogram, one encode or one decode.
  // Returns whether the run is done. Errors: Cancelled if `token` stopped it; Internal. Not to be
  // called after an error or the end.
  absl::StatusOr<bool> Step(const CancelToken& token);

  // What was made since the last call.
  std::vector<RawSegment> TakeSegments();

  // Once done: how much of the window was dealt with. All of it, unless `one_decode` was asked and
  // the decode ended before: then at least to the end of the last segment.
  int64_t heard_samples() const { return heard_samples_; }

  // The language of the request, or the detected one; empty until then.
  const std::string& language() const { return request_.language; }

  // Once done: the prompt for the audio that follows.
  std::vector<whisper_token> NextPrompt() const;

  // Whether the library's random generator was used; see StatePool.
  bool drew_random_numbers() const { return drew_random_numbers_; }

 private:
  WindowRun(whisper_context* context, LibraryState* state, LibraryLog* log, Request request);

  // On the fiber.
  void Run();
  bool DetectLanguage();
  void UseAudioContext();
  int MostLikelyLanguage() const;
  bool BeforeEncode();
  int64_t HeardFrames() const;
  bool RestIsSilent() const;
  bool Pause();
  void OnAttempt();
  void OnSegments(int count);
  RawSegment ReadSegment(int index) const;

  absl::Status Outcome(const CancelToken& token);
  void FillParams();

  whisper_context* context_;
  LibraryState* state_;
  LibraryLog* log_;
  Request request_;
  std::unique_ptr<Fiber> fiber_;

  int library_error_ = 0;
  int64_t heard_samples_ = 0;
  int encodes_ = 0;
  int attempts_ = 0;       // decodes of the current window at rising temperatures
  float temperature_ = 0;  // of the last of them
  int64_t progress_percent_ = 0;
  int64_t last_end_ = 0;  // of the last segment, 10 ms
  bool drew_random_numbers_ = false;
  bool out_of_memory_ = false;
  std::vector<RawSegment> segments_;
  std::vector<whisper_token> decoded_;  // of all segments
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_WHISPER_WINDOW_RUN_H_
