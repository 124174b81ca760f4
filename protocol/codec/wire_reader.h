#ifndef SUPERFLUID_PROTOCOL_CODEC_WIRE_READER_H_
#define SUPERFLUID_PROTOCOL_CODEC_WIRE_READER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace superfluid::linkw {

// The wire types of Protobuf's encoding that proto3 uses.
enum class WireType : uint8_t { kVarint = 0, kFixed64 = 1, kDelimited = 2, kFixed32 = 5 };

struct WireTag {
  uint32_t number = 0;  // 1 .. 2^29 - 1
  WireType type = WireType::kVarint;
};

// Reads Protobuf's encoding from front to back. Each method takes what it gives, or gives nullopt
// if the bytes end too early or are not what they should be; what is left is then of no use.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}

  bool done() const { return rest_.empty(); }

  std::optional<uint64_t> Varint() {
    uint64_t value = 0;
    for (size_t i = 0; i < rest_.size() && i < kMaxVarintBytes; ++i) {
      const auto byte = static_cast<unsigned char>(rest_[i]);
      value |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
      if ((byte & 0x80) == 0) {
        rest_.remove_prefix(i + 1);
        return value;
      }
    }
    return std::nullopt;
  }

  // Groups are nothing that this protocol has.
  std::optional<WireTag> Tag() {
    const std::optional<uint64_t> tag = Varint();
    if (!tag.has_value() || *tag > 0xffffffff || *tag < 8) return std::nullopt;
    const auto type = static_cast<WireType>(*tag & 7);
    switch (type) {
      case WireType::kVarint:
      case WireType::kFixed64:
      case WireType::kDelimited:
      case WireType::kFixed32:
        return WireTag{static_cast<uint32_t>(*tag >> 3), type};
    }
    return std::nullopt;
  }

  std::optional<std::string_view> Fixed(size_t size) {
    if (rest_.size() < size) return std::nullopt;
    const std::string_view bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return bytes;
  }

  std::optional<std::string_view> Delimited() {
    const std::optional<uint64_t> size = Varint();
    if (!size.has_value() || *size > rest_.size()) return std::nullopt;
    return Fixed(static_cast<size_t>(*size));
  }

 private:
  static constexpr size_t kMaxVarintBytes = 10;

  std::string_view rest_;
};

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_PROTOCOL_CODEC_WIRE_READER_H_
