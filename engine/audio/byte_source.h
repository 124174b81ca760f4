#ifndef SUPERFLUID_ENGINE_AUDIO_BYTE_SOURCE_H_
#define SUPERFLUID_ENGINE_AUDIO_BYTE_SOURCE_H_

#include <cstddef>
#include <cstdint>

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

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_AUDIO_BYTE_SOURCE_H_
