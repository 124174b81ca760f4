#ifndef SUPERFLUID_TESTS_PROTOCOL_WIRE_BUILDER_H_
#define SUPERFLUID_TESTS_PROTOCOL_WIRE_BUILDER_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace superfluid::linkw {

// Protobuf's encoding by hand, for payloads that no encoder would write.
inline std::string Varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<char>(value | 0x80));
  bytes.push_back(static_cast<char>(value));
  return bytes;
}

inline std::string VarintField(uint32_t number, uint64_t value) {
  return Varint(uint64_t{number} << 3) + Varint(value);
}

inline std::string BytesField(uint32_t number, std::string_view bytes) {
  return Varint((uint64_t{number} << 3) | 2) + Varint(bytes.size()) + std::string(bytes);
}

inline std::string Repeat(std::string_view bytes, size_t times) {
  std::string all;
  all.reserve(bytes.size() * times);
  for (size_t i = 0; i < times; ++i) all.append(bytes);
  return all;
}

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_TESTS_PROTOCOL_WIRE_BUILDER_H_
