#ifndef SUPERFLUID_PROTOCOL_FRAMES_FRAME_H_
#define SUPERFLUID_PROTOCOL_FRAMES_FRAME_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "protocol/messages/message_type.h"
#include "protocol/messages/version.h"

namespace superfluid::linkw {

// A frame is a 32-byte little-endian header and a payload:
//
//   offset  0  4  magic "SFLW"
//           4  2  proto_version   kProtoVersion until another was negotiated
//           6  2  type            bit 15: droppable
//           8  8  seq             the sender's counter: 1, 2, 3 ...
//          16  8  correlation     seq of the request that caused this frame; 0: none
//          24  4  payload_len
//          28  4  crc32 (zlib's) of bytes 0..27
inline constexpr size_t kFrameHeaderBytes = 32;
inline constexpr uint32_t kMagic = 0x574c4653;  // "SFLW" read as a little-endian number

struct FrameHeader {
  uint16_t proto_version = kProtoVersion;
  uint16_t type = 0;  // a MessageType if IsKnown(type)
  uint64_t seq = 0;
  uint64_t correlation = 0;
  uint32_t payload_len = 0;
  bool operator==(const FrameHeader&) const = default;
};

struct Frame {
  FrameHeader header;
  std::string payload;  // empty, whatever payload_len says, if the type is unknown
  uint64_t offset = 0;  // of the frame's first byte in the stream, for error texts

  MessageType type() const { return static_cast<MessageType>(header.type); }
};

using HeaderBytes = std::array<char, kFrameHeaderBytes>;

// Magic and checksum are filled in; everything else is taken from `header` as it is.
HeaderBytes EncodeHeader(const FrameHeader& header);

// Header and payload; header.payload_len is overwritten with the payload's length.
std::string EncodeFrame(FrameHeader header, std::string_view payload);

// The sending end of a link: owns its seq counter and its version. Not thread-safe.
class FrameEncoder {
 public:
  explicit FrameEncoder(uint32_t max_frame = kDefaultMaxFrame) : max_frame_(max_frame) {}

  // The next frame. Errors: kTooLarge if `payload` exceeds PayloadLimit(type, max_frame); nothing
  // is then consumed, and the caller can answer with something smaller.
  absl::StatusOr<std::string> Encode(MessageType type, uint64_t correlation,
                                     std::string_view payload);

  // The same for a frame whose payload is there already, behind kFrameHeaderBytes of room: fills in
  // the header. REQUIRES: the room.
  absl::Status Finish(MessageType type, uint64_t correlation, std::string& frame);

  // The seq that the next successful Encode or Finish will use.
  uint64_t next_seq() const { return next_seq_; }

  void SetVersion(uint16_t version) { version_ = version; }
  void SetMaxFrame(uint32_t max_frame) { max_frame_ = max_frame; }

 private:
  absl::StatusOr<FrameHeader> NextHeader(MessageType type, uint64_t correlation,
                                         size_t payload_size);

  uint32_t max_frame_;
  uint16_t version_ = kProtoVersion;
  uint64_t next_seq_ = 1;
};

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_PROTOCOL_FRAMES_FRAME_H_
