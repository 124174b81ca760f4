#ifndef SUPERFLUID_ENGINE_WHISPER_WINDOW_PLANNER_H_
#define SUPERFLUID_ENGINE_WHISPER_WINDOW_PLANNER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/whisper/audio_buffer.h"

namespace superfluid {

// What a model hears at once.
inline constexpr int64_t kWindowSamples = int64_t{30} * 16'000;

// What to do with the audio that follows a position.
struct WindowPlan {
  enum class Kind {
    kNeedMore,  // too little of it is known
    kSkip,      // nothing is said until `end`: go on from there
    kWindow,    // transcribe [begin, end)
    kDone,      // nothing follows
  };
  Kind kind = Kind::kNeedMore;
  // Of a window. While more is needed: begin of the speech that is going on, -1 if there is none.
  int64_t begin = -1;
  int64_t end = -1;
  bool one_decode = false;  // the speech goes on after the window
};

// Decides which audio is transcribed together. The decisions depend on the samples alone, not on
// when they arrive.
//
// Threads: one.
class WindowPlanner {
 public:
  virtual ~WindowPlanner() = default;

  // Looks at a bounded amount (about a millisecond of work) of the audio that was not looked at
  // yet. Returns whether all that was read has been looked at. Errors: Internal.
  virtual absl::StatusOr<bool> Look(const AudioBuffer& audio) = 0;

  // To be called once Look has seen everything. `position` never goes back.
  virtual WindowPlan Plan(const AudioBuffer& audio, int64_t position) = 0;
};

// For recordings: one window of 30 s after the other, as the library takes them. Silent ones are
// skipped.
std::unique_ptr<WindowPlanner> PlanFixedWindows();

// For live audio: a window ends at a pause of `pause_samples`, which is audio of at most -70 dBFS
// or 30 dB quieter than the loudest of the last seconds. Speech begins with 0.2 s of what was
// before.
std::unique_ptr<WindowPlanner> PlanByLoudness(int64_t pause_samples);

// The probability of speech in each block of kSpeechBlockSamples that follow those of the last call
// (VoiceActivity::Hear).
using HearSpeech = std::function<absl::StatusOr<std::vector<float>>(absl::Span<const float>)>;

// Windows of speech, as a voice activity model hears it: a window ends at a pause of
// `pause_samples`. Speech that is cut by a window's end goes on in the next.
std::unique_ptr<WindowPlanner> PlanBySpeech(HearSpeech hear, float threshold,
                                            int64_t pause_samples);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_WHISPER_WINDOW_PLANNER_H_
