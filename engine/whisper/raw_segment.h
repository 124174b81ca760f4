#ifndef SUPERFLUID_ENGINE_WHISPER_RAW_SEGMENT_H_
#define SUPERFLUID_ENGINE_WHISPER_RAW_SEGMENT_H_

#include <cstdint>
#include <string>
#include <vector>

namespace superfluid {

// A token as the library tells it. Times in 10 ms from the start of the window, -1 if there are
// none.
struct RawToken {
  int32_t id = 0;
  bool is_text = false;
  std::string bytes;  // of a text token; may begin or end inside a character
  float probability = 0;
  float logprob = 0;
  int64_t start = -1;
  int64_t end = -1;

  friend bool operator==(const RawToken&, const RawToken&) = default;
};

// A segment as the library tells it. Times as above.
struct RawSegment {
  int64_t start = 0;
  int64_t end = 0;
  std::vector<RawToken> tokens;
  float no_speech_prob = 0;
  float temperature = 0;

  friend bool operator==(const RawSegment&, const RawSegment&) = default;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_WHISPER_RAW_SEGMENT_H_
