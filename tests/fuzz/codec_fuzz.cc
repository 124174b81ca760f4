#include "tests/fuzz/codec_fuzz.h"

#include <cstdint>
#include <cstdlib>

#include "protocol/codec/codec.h"
#include "protocol/messages/status.h"

namespace superfluid::fuzz {
namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

void CheckError(const absl::Status& status) {
  switch (linkw::FromAbsl(status)) {
    case linkw::Status::kProtocolError:
    case linkw::Status::kInvalidArgument:
    case linkw::Status::kUnsupported:
    case linkw::Status::kUnimplemented:
      Require(!status.message().empty());
      return;
    default:
      std::abort();
  }
}

// Bytes, not values, are compared: a NaN is not equal to itself.
template <typename Parse>
void CheckAccepted(Parse parse, linkw::MessageType type, std::string_view payload) {
  const auto message = parse(type, payload);
  if (!message.ok()) {
    CheckError(message.status());
    return;
  }
  const linkw::EncodedMessage once = linkw::Serialize(*message);
  Require(once.type == type);
  const auto again = parse(type, once.payload);
  Require(again.ok());
  Require(linkw::Serialize(*again).payload == once.payload);
}

}  // namespace

void FuzzCodecOf(linkw::MessageType type, std::string_view payload) {
  CheckAccepted(linkw::ParseDriverMessage, type, payload);
  CheckAccepted(linkw::ParseWorkerMessage, type, payload);
}

void FuzzCodec(std::string_view bytes) {
  if (bytes.size() < 2) return;
  const auto type = static_cast<uint16_t>(static_cast<unsigned char>(bytes[0]) |
                                          static_cast<unsigned char>(bytes[1]) << 8);
  FuzzCodecOf(static_cast<linkw::MessageType>(type), bytes.substr(2));
}

}  // namespace superfluid::fuzz
