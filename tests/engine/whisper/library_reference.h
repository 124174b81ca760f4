#ifndef SUPERFLUID_TESTS_ENGINE_WHISPER_LIBRARY_REFERENCE_H_
#define SUPERFLUID_TESTS_ENGINE_WHISPER_LIBRARY_REFERENCE_H_

#include <memory>
#include <string>
#include <vector>

#include "engine/whisper/ggml_names.h"
#include "engine/whisper/raw_segment.h"

// whisper.cpp used directly, as its own examples use it: what the engine's results are compared
// with. It shares no code with the engine but the names of ggml.
namespace superfluid {

struct ReferenceContext {
  explicit ReferenceContext(const std::string& model, bool flash_attn = false);
  ~ReferenceContext();
  ReferenceContext(const ReferenceContext&) = delete;
  ReferenceContext& operator=(const ReferenceContext&) = delete;

  whisper_context* context = nullptr;
};

struct ReferenceRequest {
  std::string language = "en";  // empty: detect
  bool translate = false;
  bool timestamps = true;
  std::string prompt;
  int beam_size = 1;
  int best_of = 5;
  float temperature = 0;
  float temperature_inc = 0.2F;
  int threads = 1;
};

struct ReferenceResult {
  int error = 0;
  std::vector<RawSegment> segments;  // times from the start of the audio; no temperatures
  std::string language;
  int windows = 0;
};

// One call of whisper_full_with_state on a state of its own.
ReferenceResult WholeReference(whisper_context* context, const ReferenceRequest& request,
                               const std::vector<float>& samples);

// Windows of 30 s as decisions/0008 describes them: one decode of each, then on from where it
// ended, with what was said as the prompt; the last window as a whole.
ReferenceResult WindowedReference(whisper_context* context, const ReferenceRequest& request,
                                  const std::vector<float>& samples);

// The text of a reference as the engine would join it, with U+FFFD for what is no character.
std::string ReferenceText(const std::vector<RawSegment>& segments);

}  // namespace superfluid

#endif  // SUPERFLUID_TESTS_ENGINE_WHISPER_LIBRARY_REFERENCE_H_
