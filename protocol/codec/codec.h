#ifndef SUPERFLUID_PROTOCOL_CODEC_CODEC_H_
#define SUPERFLUID_PROTOCOL_CODEC_CODEC_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "protocol/frames/frame.h"
#include "protocol/messages/messages.h"

namespace superfluid::linkw {

struct EncodedMessage {
  MessageType type = MessageType::kError;
  std::string payload;
};

// A frame whose header is missing: FrameEncoder::Finish fills it in.
struct UnfinishedFrame {
  MessageType type = MessageType::kError;
  std::string bytes;  // kFrameHeaderBytes of unspecified contents, and the payload

  size_t payload_bytes() const { return bytes.size() - kFrameHeaderBytes; }
};

// The payload of a frame of `type` as a message, for the side that receives it: a worker parses
// DriverMessages, a daemon WorkerMessages.
//
// The payload is foreign: before any object is built, its bytes are walked once and held against
// the rules that linkw.proto states for every field. The two kinds of error differ in what becomes
// of the link (IsLinkError):
//   kProtocolError    The bytes are not a message of this type: the link closes.
//   kInvalidArgument  A well-formed message breaks a rule, and the text names the field: too many
//                     elements, text that is too long or not UTF-8, a NUL in a name or a path, a
//                     hash of the wrong length, an unknown enum value, a number that is not finite,
//                     two lists of different lengths, a missing part. The link stays.
//   kUnsupported      A state sync call or state op that this version does not know.
//                     The link stays.
//   kUnimplemented    `type` is unknown, or goes the other way. The link stays.
// Memory: at most a fixed multiple of the counts that the rules allow, never of what is claimed.
// The messages of a tick are read in one pass without Protobuf, by the same rules (direct_tick.h).
absl::StatusOr<DriverMessage> ParseDriverMessage(MessageType type, std::string_view payload);
absl::StatusOr<WorkerMessage> ParseWorkerMessage(MessageType type, std::string_view payload);

// The wire form. Never fails; what breaks a rule is refused by the receiver. A worker's text gets
// U+FFFD for each byte that is not UTF-8 and is cut at its limit, so that an answer always arrives;
// a daemon's goes out as it is, and the worker says which field is wrong. (Telemetry goes both
// ways: name the variant, as in Serialize(WorkerMessage(telemetry)).)
EncodedMessage Serialize(const DriverMessage& message);
EncodedMessage Serialize(const WorkerMessage& message);

// The same with room for the header, so that the payload is not copied into its frame.
UnfinishedFrame SerializeFrame(const DriverMessage& message);
UnfinishedFrame SerializeFrame(const WorkerMessage& message);

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_PROTOCOL_CODEC_CODEC_H_
