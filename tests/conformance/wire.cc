#include "tests/conformance/wire.h"

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace superfluid::conformance {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr uint32_t kSmall = 65'536;
constexpr uint32_t kTick = 262'144;

template <class T>
void Put(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <class T>
T Get(std::string_view bytes, size_t at) {
  T value{};
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

uint32_t Crc(std::string_view bytes) {
  return static_cast<uint32_t>(
      ::crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}

}  // namespace

std::string FrameBytes(const Header& header, std::string_view payload) {
  std::string bytes = header.magic;
  Put(bytes, header.version);
  Put(bytes, header.type);
  Put(bytes, header.seq);
  Put(bytes, header.correlation);
  Put(bytes, header.payload_len.value_or(static_cast<uint32_t>(payload.size())));
  Put(bytes, Crc(bytes) ^ header.crc_flip);
  return bytes.append(payload);
}

SeenHeader ReadHeader(std::string_view bytes) {
  return {.magic = std::string(bytes.substr(0, 4)),
          .version = Get<uint16_t>(bytes, 4),
          .type = Get<uint16_t>(bytes, 6),
          .seq = Get<uint64_t>(bytes, 8),
          .correlation = Get<uint64_t>(bytes, 16),
          .payload_len = Get<uint32_t>(bytes, 24),
          .crc_ok = Get<uint32_t>(bytes, 28) == Crc(bytes.substr(0, 28))};
}

uint32_t PayloadMost(uint16_t type, uint32_t max_frame) {
  switch (static_cast<linkw::MessageType>(type)) {
    case linkw::MessageType::kTickSubmit:
    case linkw::MessageType::kTickResult:
    case linkw::MessageType::kTickEmit:
    case linkw::MessageType::kTranscribeSegment:
      return std::min(kTick, max_frame);
    case linkw::MessageType::kHelloAck:
    case linkw::MessageType::kStateSyncRequest:
    case linkw::MessageType::kStateSyncResult:
    case linkw::MessageType::kTranscribeAudio:
    case linkw::MessageType::kStrategyRegister:
    case linkw::MessageType::kStrategyGrant:
      return max_frame;
    default:
      return linkw::IsKnown(type) ? std::min(kSmall, max_frame) : max_frame;
  }
}

std::string Varint(uint64_t value) {
  std::string bytes;
  while (value >= 0x80) {
    bytes.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  bytes.push_back(static_cast<char>(value));
  return bytes;
}

std::string VarintField(uint32_t field, uint64_t value) {
  return Varint(uint64_t{field} << 3) + Varint(value);
}

std::string BytesField(uint32_t field, std::string_view bytes) {
  return (Varint(uint64_t{field} << 3 | 2) + Varint(bytes.size())).append(bytes);
}

std::string Fixed32Field(uint32_t field, uint32_t value) {
  std::string bytes = Varint(uint64_t{field} << 3 | 5);
  Put(bytes, value);
  return bytes;
}

}  // namespace superfluid::conformance
