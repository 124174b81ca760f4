#include "protocol/frames/frame.h"

#include <algorithm>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "protocol/frames/frame_layout.h"
#include "protocol/frames/little_endian.h"
#include "protocol/messages/status.h"
#include "protocol/messages/text.h"

namespace superfluid::linkw {

static_assert(kCrcOffset + sizeof(uint32_t) == kFrameHeaderBytes);

HeaderBytes EncodeHeader(const FrameHeader& header) {
  HeaderBytes bytes;
  StoreLittleEndian(kMagic, &bytes[kMagicOffset]);
  StoreLittleEndian(header.proto_version, &bytes[kVersionOffset]);
  StoreLittleEndian(header.type, &bytes[kTypeOffset]);
  StoreLittleEndian(header.seq, &bytes[kSeqOffset]);
  StoreLittleEndian(header.correlation, &bytes[kCorrelationOffset]);
  StoreLittleEndian(header.payload_len, &bytes[kPayloadLenOffset]);
  StoreLittleEndian(HeaderCrc(bytes.data()), &bytes[kCrcOffset]);
  return bytes;
}

std::string EncodeFrame(FrameHeader header, std::string_view payload) {
  header.payload_len = static_cast<uint32_t>(payload.size());
  const HeaderBytes bytes = EncodeHeader(header);
  std::string frame;
  frame.reserve(bytes.size() + payload.size());
  frame.append(bytes.data(), bytes.size());
  frame.append(payload);
  return frame;
}

absl::StatusOr<std::string> FrameEncoder::Encode(MessageType type, uint64_t correlation,
                                                 std::string_view payload) {
  const absl::StatusOr<FrameHeader> header = NextHeader(type, correlation, payload.size());
  if (!header.ok()) return header.status();
  return EncodeFrame(*header, payload);
}

absl::Status FrameEncoder::Finish(MessageType type, uint64_t correlation, std::string& frame) {
  if (frame.size() < kFrameHeaderBytes) std::abort();
  const absl::StatusOr<FrameHeader> header =
      NextHeader(type, correlation, frame.size() - kFrameHeaderBytes);
  if (!header.ok()) return header.status();
  const HeaderBytes bytes = EncodeHeader(*header);
  std::copy(bytes.begin(), bytes.end(), frame.begin());
  return absl::OkStatus();
}

absl::StatusOr<FrameHeader> FrameEncoder::NextHeader(MessageType type, uint64_t correlation,
                                                     size_t payload_size) {
  const uint32_t limit = PayloadLimit(type, max_frame_);
  if (payload_size > limit) {
    return MakeStatus(Status::kTooLarge,
                      absl::StrCat(AbslView(MessageTypeName(type)), " of ", payload_size,
                                   " bytes does not fit into its frame; the limit is ", limit));
  }
  FrameHeader header;
  header.proto_version = version_;
  header.type = static_cast<uint16_t>(type);
  header.seq = next_seq_++;
  header.correlation = correlation;
  header.payload_len = static_cast<uint32_t>(payload_size);
  return header;
}

}  // namespace superfluid::linkw
