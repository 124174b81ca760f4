#ifndef SUPERFLUID_ENGINE_AUDIO_SOUND_READER_H_
#define SUPERFLUID_ENGINE_AUDIO_SOUND_READER_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "engine/audio/frame_reader.h"

namespace superfluid {

// Where the bytes of an encoded file are. Its size is fixed when it is made; nobody reads beyond.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  virtual int64_t size() const = 0;
  // Copies up to `count` bytes at `offset` (within [0, size()]); returns how many, 0 at the end or
  // when they cannot be read.
  virtual size_t ReadAt(int64_t offset, void* to, size_t count) = 0;
};

// Decodes `bytes` with libsndfile. Errors: InvalidArgument for an empty source, one that
// libsndfile does not recognise or refuses, or that has more than kMaxAudioChannels.
//
// libsndfile trusts its input in places, so what it may read is rationed: a file that makes it read
// its own bytes over and over ends there, as damaged.
absl::StatusOr<std::unique_ptr<FrameReader>> OpenSoundReader(std::unique_ptr<ByteSource> bytes);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_AUDIO_SOUND_READER_H_
