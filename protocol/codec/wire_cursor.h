#ifndef SUPERFLUID_PROTOCOL_CODEC_WIRE_CURSOR_H_
#define SUPERFLUID_PROTOCOL_CODEC_WIRE_CURSOR_H_

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "protocol/codec/wire_reader.h"
#include "protocol/frames/little_endian.h"

// Protobuf's encoding as plain functions, for the readers that only say yes or no. Each reads from
// `at`, before `end`, and returns the position behind what it read; nullptr: it is not there, or
// not well formed. Internal to the codecs.
namespace superfluid::linkw::cursor {

inline constexpr size_t kMaxVarintBytes = 10;
// The wire types that there are, as bits.
inline constexpr uint32_t kWireTypes = 1u << static_cast<uint32_t>(WireType::kVarint) |
                                       1u << static_cast<uint32_t>(WireType::kFixed64) |
                                       1u << static_cast<uint32_t>(WireType::kDelimited) |
                                       1u << static_cast<uint32_t>(WireType::kFixed32);

inline const char* LongVarint(const char* at, const char* end, uint64_t& to) {
  uint64_t value = 0;
  for (size_t i = 0; i < kMaxVarintBytes && at != end; ++i) {
    const auto byte = static_cast<unsigned char>(*at++);
    value |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      to = value;
      return at;
    }
  }
  return nullptr;
}

inline const char* Varint(const char* at, const char* end, uint64_t& to) {
  if (at != end && static_cast<unsigned char>(*at) < 0x80) [[likely]] {
    to = static_cast<unsigned char>(*at);
    return at + 1;
  }
  return LongVarint(at, end, to);
}

// Reads a tag. Those of groups, and of no field, are none.
inline const char* Tag(const char* at, const char* end, uint32_t& to) {
  uint64_t tag = 0;
  at = Varint(at, end, tag);
  if (tag < 8 || tag > 0xffffffff || (kWireTypes >> (tag & 7) & 1) == 0) return nullptr;
  to = static_cast<uint32_t>(tag);
  return at;
}

inline const char* Fixed32(const char* at, const char* end, uint32_t& to) {
  if (end - at < 4) return nullptr;
  to = LoadLittleEndian<uint32_t>(at);
  return at + 4;
}

// Reads a length; `part_end` is where the part ends that begins at the position returned.
inline const char* Length(const char* at, const char* end, const char*& part_end) {
  uint64_t size = 0;
  at = Varint(at, end, size);
  if (at == nullptr || size > static_cast<uint64_t>(end - at)) return nullptr;
  part_end = at + size;
  return at;
}

// Passes over the value of a field with this tag.
inline const char* Skip(const char* at, const char* end, uint32_t tag) {
  uint64_t ignored = 0;
  switch (static_cast<WireType>(tag & 7)) {
    case WireType::kVarint:
      return Varint(at, end, ignored);
    case WireType::kFixed64:
      return end - at < 8 ? nullptr : at + 8;
    case WireType::kFixed32:
      return end - at < 4 ? nullptr : at + 4;
    case WireType::kDelimited: {
      const char* part_end = nullptr;
      return Length(at, end, part_end) == nullptr ? nullptr : part_end;
    }
  }
  return nullptr;
}

inline bool IsFiniteFloat(uint32_t bits) { return (bits & 0x7f800000) != 0x7f800000; }

// Returns how many varints a packed list has, if it is well formed.
inline size_t CountVarints(const char* at, const char* end) {
  size_t count = 0;
  for (; at != end; ++at) count += static_cast<unsigned char>(*at) < 0x80 ? 1 : 0;
  return count;
}

inline std::string_view Between(const char* at, const char* end) {
  return {at, static_cast<size_t>(end - at)};
}

}  // namespace superfluid::linkw::cursor

#endif  // SUPERFLUID_PROTOCOL_CODEC_WIRE_CURSOR_H_
