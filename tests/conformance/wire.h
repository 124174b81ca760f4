#ifndef SUPERFLUID_TESTS_CONFORMANCE_WIRE_H_
#define SUPERFLUID_TESTS_CONFORMANCE_WIRE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/messages/messages.h"

// Frames byte by byte, made and read by this suite itself: it must be able to make wrong ones, and
// to see what the worker's own code would not.
namespace superfluid::conformance {

inline constexpr size_t kHeaderBytes = 32;
inline constexpr uint16_t kVersion = 8;

struct Header {
  std::string magic = "SFLW";
  uint16_t version = kVersion;
  uint16_t type = 0;
  uint64_t seq = 0;
  uint64_t correlation = 0;
  std::optional<uint32_t> payload_len;  // else the payload's
  uint32_t crc_flip = 0;                // XORed into the right checksum
};

std::string FrameBytes(const Header& header, std::string_view payload);

// What the bytes of a header say; the magic and the checksum are as found.
struct SeenHeader {
  std::string magic;
  uint16_t version = 0;
  uint16_t type = 0;
  uint64_t seq = 0;
  uint64_t correlation = 0;
  uint32_t payload_len = 0;
  bool crc_ok = false;
};

SeenHeader ReadHeader(std::string_view bytes);

// The most payload bytes of a type, as FRAME-7 has it.
uint32_t PayloadMost(uint16_t type, uint32_t max_frame);

// Pieces of Protobuf's wire form.
std::string Varint(uint64_t value);
std::string VarintField(uint32_t field, uint64_t value);
std::string BytesField(uint32_t field, std::string_view bytes);
std::string Fixed32Field(uint32_t field, uint32_t value);

}  // namespace superfluid::conformance

#endif  // SUPERFLUID_TESTS_CONFORMANCE_WIRE_H_
