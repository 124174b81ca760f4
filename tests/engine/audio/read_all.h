#ifndef SUPERFLUID_TESTS_ENGINE_AUDIO_READ_ALL_H_
#define SUPERFLUID_TESTS_ENGINE_AUDIO_READ_ALL_H_

#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "engine/audio/audio_source.h"

namespace superfluid {

struct ReadResult {
  std::vector<float> samples;
  absl::Status status;  // OK: it ended
};

// Reads to the end, or to the error, in blocks of `block` samples.
inline ReadResult ReadAll(AudioSource& source, size_t block = 160) {
  ReadResult result;
  std::vector<float> buffer(block);
  for (;;) {
    absl::StatusOr<AudioSource::Block> read = source.Read(absl::MakeSpan(buffer));
    result.status = read.status();
    if (!read.ok()) return result;
    result.samples.insert(result.samples.end(), buffer.begin(),
                          buffer.begin() + static_cast<std::ptrdiff_t>(read->frames));
    if (read->state != AudioSource::State::kMore) return result;
  }
}

}  // namespace superfluid

#endif  // SUPERFLUID_TESTS_ENGINE_AUDIO_READ_ALL_H_
