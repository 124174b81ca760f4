#ifndef SUPERFLUID_TESTS_ENGINE_AUDIO_SOUND_BYTES_H_
#define SUPERFLUID_TESTS_ENGINE_AUDIO_SOUND_BYTES_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/types/span.h"

namespace superfluid {

// A sine of `hz` at amplitude 0.5, the same in every channel, interleaved.
std::vector<float> Sine(int rate_hz, int channels, double seconds, double hz = 440);

// An encoded file in memory; `format` is libsndfile's (SF_FORMAT_WAV | SF_FORMAT_PCM_16).
std::string EncodeSound(int format, int rate_hz, int channels, const std::vector<float>& samples);

// The same as mp3 of a constant bit rate: `level` 0 is the highest, 1 the lowest.
std::string EncodeMp3(int rate_hz, int channels, const std::vector<float>& samples, double level);

// Overwrites the bytes at `offset`.
void Patch(std::string& bytes, size_t offset, const std::string& with);

absl::Span<const std::byte> AsBytes(const std::string& text);

// A descriptor of an unlinked file with these bytes; the caller owns it.
int FileWith(const std::string& bytes);

}  // namespace superfluid

#endif  // SUPERFLUID_TESTS_ENGINE_AUDIO_SOUND_BYTES_H_
