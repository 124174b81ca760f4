#ifndef SUPERFLUID_ENGINE_SAMPLING_MIX_H_
#define SUPERFLUID_ENGINE_SAMPLING_MIX_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "engine/handles.h"

// Arithmetic whose results are the same on every machine: the random stream of draws, fingerprints
// and the sim engine's "computation" are made of it. They are part of what is compared and stored,
// so do not change them.
namespace superfluid {

// SplitMix64's finalizer, a bijection: different inputs have different, well mixed outputs.
constexpr uint64_t Mix(uint64_t value) {
  value += 0x9E3779B97F4A7C15U;
  value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9U;
  value = (value ^ (value >> 27U)) * 0x94D049BB133111EBU;
  return value ^ (value >> 31U);
}

// Depends on both and on their order; with one of them fixed, a bijection of the other.
constexpr uint64_t Mix(uint64_t left, uint64_t right) {
  return Mix(Mix(left) ^ (right * 0xD6E8FEB86659FD93U));
}

// Of any bytes; their number counts too.
inline uint64_t MixBytes(absl::string_view bytes, uint64_t seed) {
  uint64_t mixed = Mix(seed, bytes.size());
  for (size_t i = 0; i < bytes.size(); i += sizeof(uint64_t)) {
    const absl::string_view part = bytes.substr(i, sizeof(uint64_t));
    uint64_t word = 0;
    std::memcpy(&word, part.data(), part.size());
    mixed = Mix(mixed, word);
  }
  return mixed;
}

// A digest of four words.
inline Digest DigestOf(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
  Digest digest{};
  const uint64_t words[] = {a, b, c, d};
  std::memcpy(digest.data(), words, sizeof(words));
  return digest;
}

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_SAMPLING_MIX_H_
