#ifndef SUPERFLUID_PROTOCOL_CODEC_WIRE_SCAN_H_
#define SUPERFLUID_PROTOCOL_CODEC_WIRE_SCAN_H_

#include <string_view>

#include "absl/status/status.h"
#include "protocol/codec/schema_rules.h"

namespace superfluid::linkw {

// Walks the bytes of a payload once, allocating nothing, and holds them against `rules`, those of
// its message type: what passes can be handed to Protobuf, and gives objects of bounded size.
// Errors, each with the path of the field ("StateSyncReq.transcribe.language: not UTF-8"):
// kProtocolError for bytes that are not such a message, kInvalidArgument for a broken rule.
absl::Status ScanPayload(const MessageRules& rules, std::string_view payload);

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_PROTOCOL_CODEC_WIRE_SCAN_H_
