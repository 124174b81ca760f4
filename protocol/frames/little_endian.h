#ifndef SUPERFLUID_PROTOCOL_FRAMES_LITTLE_ENDIAN_H_
#define SUPERFLUID_PROTOCOL_FRAMES_LITTLE_ENDIAN_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace superfluid::linkw {

// An unsigned number of sizeof(T) bytes, least significant first, at any alignment.
template <typename T>
T LoadLittleEndian(const char* from) {
  if constexpr (std::endian::native == std::endian::little) {
    T number{};
    std::memcpy(&number, from, sizeof(T));
    return number;
  }
  uint64_t value = 0;
  for (size_t i = 0; i < sizeof(T); ++i) {
    value |= static_cast<uint64_t>(static_cast<unsigned char>(from[i])) << (8 * i);
  }
  return static_cast<T>(value);
}

template <typename T>
void StoreLittleEndian(T number, char* to) {
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(to, &number, sizeof(T));
    return;
  }
  for (size_t i = 0; i < sizeof(T); ++i) {
    to[i] = static_cast<char>((static_cast<uint64_t>(number) >> (8 * i)) & 0xff);
  }
}

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_PROTOCOL_FRAMES_LITTLE_ENDIAN_H_
