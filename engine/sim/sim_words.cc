#include "engine/sim/sim_words.h"

#include <algorithm>
#include <cmath>

namespace superfluid {
namespace {

constexpr absl::string_view kConsonants = "bdfghjklmnprstvz";
constexpr absl::string_view kVowels = "aeio";
constexpr int kSyllables = 3;

int16_t To16Bits(float sample) {
  const float scaled = std::isfinite(sample) ? std::clamp(sample, -1.0F, 1.0F) * 32767.0F : 0.0F;
  return static_cast<int16_t>(std::lround(scaled));
}

// SplitMix64: each call gives the next well-mixed 64 bits.
uint64_t NextRandom(uint64_t& state) {
  state += 0x9E3779B97F4A7C15U;
  uint64_t mixed = state;
  mixed = (mixed ^ (mixed >> 30U)) * 0xBF58476D1CE4E5B9U;
  mixed = (mixed ^ (mixed >> 27U)) * 0x94D049BB133111EBU;
  return mixed ^ (mixed >> 31U);
}

std::string WordFromBits(uint64_t bits) {
  std::string word;
  for (int i = 0; i < kSyllables; ++i) {
    word += kConsonants[bits & 15U];
    word += kVowels[(bits >> 4U) & 3U];
    bits >>= 6U;
  }
  return word;
}

}  // namespace

void SampleHash::Add(absl::Span<const float> samples) {
  for (const float sample : samples) {
    const int16_t value = To16Bits(sample);
    silent_ = silent_ && value == 0;
    value_ = (value_ ^ static_cast<uint16_t>(value)) * 0x100000001B3U;
  }
}

std::vector<std::string> WordsFromSeed(uint64_t seed, int64_t count) {
  std::vector<std::string> words;
  for (int64_t i = 0; i < count; ++i) words.push_back(WordFromBits(NextRandom(seed)));
  return words;
}

}  // namespace superfluid
