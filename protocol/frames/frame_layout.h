#ifndef SUPERFLUID_PROTOCOL_FRAMES_FRAME_LAYOUT_H_
#define SUPERFLUID_PROTOCOL_FRAMES_FRAME_LAYOUT_H_

#include <zlib.h>

#include <cstddef>
#include <cstdint>

// Where the fields of a frame header are; for the encoder and the decoder only.
namespace superfluid::linkw {

inline constexpr size_t kMagicOffset = 0;
inline constexpr size_t kVersionOffset = 4;
inline constexpr size_t kTypeOffset = 6;
inline constexpr size_t kSeqOffset = 8;
inline constexpr size_t kCorrelationOffset = 16;
inline constexpr size_t kPayloadLenOffset = 24;
inline constexpr size_t kCrcOffset = 28;

// Of everything in front of the checksum itself.
inline uint32_t HeaderCrc(const char* header) {
  return static_cast<uint32_t>(
      ::crc32(0, reinterpret_cast<const Bytef*>(header), static_cast<uInt>(kCrcOffset)));
}

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_PROTOCOL_FRAMES_FRAME_LAYOUT_H_
