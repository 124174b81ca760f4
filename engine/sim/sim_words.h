#ifndef SUPERFLUID_ENGINE_SIM_SIM_WORDS_H_
#define SUPERFLUID_ENGINE_SIM_SIM_WORDS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace superfluid {

// A running fingerprint of audio: equal samples, cut into any blocks, give an equal value. Samples
// count to 16 bits, so that audio which went through a 16-bit file is the same audio.
// Threads: one at a time.
class SampleHash {
 public:
  void Add(absl::Span<const float> samples);
  uint64_t value() const { return value_; }
  // Whether every sample was zero (to 16 bits).
  bool silent() const { return silent_; }

 private:
  uint64_t value_ = 0xCBF29CE484222325U;
  bool silent_ = true;
};

// `count` pronounceable words that `seed` determines.
std::vector<std::string> WordsFromSeed(uint64_t seed, int64_t count);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_SIM_SIM_WORDS_H_
