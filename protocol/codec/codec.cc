#include "protocol/codec/codec.h"

#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "protocol/codec/cache_convert.h"
#include "protocol/codec/convert_common.h"
#include "protocol/codec/memory_convert.h"
#include "protocol/codec/schema_rules.h"
#include "protocol/codec/session_convert.h"
#include "protocol/codec/state_op_convert.h"
#include "protocol/codec/state_sync_convert.h"
#include "protocol/codec/strategy_convert.h"
#include "protocol/codec/tick_convert.h"
#include "protocol/codec/transcribe_convert.h"
#include "protocol/codec/wire_scan.h"
#include "protocol/linkw.pb.h"
#include "protocol/messages/status.h"
#include "protocol/messages/text.h"

namespace superfluid::linkw {
namespace {

// The Protobuf form of the plain message T.
template <typename T>
using ProtoOf = decltype(ToProto(std::declval<const T&>()));

template <typename T>
absl::StatusOr<T> Parse(std::string_view payload) {
  using Proto = ProtoOf<T>;
  static const MessageRules& rules = RulesOf(*Proto::descriptor());
  absl::Status status = ScanPayload(rules, payload);
  if (!status.ok()) return status;
  Proto proto;
  if (!proto.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) {
    return MakeStatus(Status::kProtocolError, absl::StrCat(rules.name, ": undecodable"));
  }
  return FromProto(std::move(proto));
}

absl::Status UnknownType(MessageType type, std::string_view reader) {
  return MakeStatus(Status::kUnimplemented,
                    absl::StrFormat("0x%04x %s is not a message for a %s", static_cast<int>(type),
                                    AbslView(MessageTypeName(type)), AbslView(reader)));
}

EncodedMessage Encode(MessageType type, const google::protobuf::MessageLite& proto) {
  return {type, proto.SerializeAsString()};
}

// A payload's length travels in 32 bits, and Protobuf counts it in an int.
absl::Status CheckLength(std::string_view payload) {
  if (payload.size() <= kDefaultMaxFrame) return absl::OkStatus();
  return MakeStatus(Status::kProtocolError, absl::StrCat("a payload of ", payload.size(),
                                                         " bytes is longer than any frame"));
}

}  // namespace

absl::StatusOr<DriverMessage> ParseDriverMessage(MessageType type, std::string_view payload) {
  absl::Status status = CheckLength(payload);
  if (!status.ok()) return status;
  switch (type) {
    case MessageType::kHello:
      return Parse<Hello>(payload);
    case MessageType::kRingAttach:
      return Parse<RingAttach>(payload);
    case MessageType::kControlAttach:
      return Parse<ControlAttach>(payload);
    case MessageType::kTickSubmit:
      return Parse<TickSubmit>(payload);
    case MessageType::kMatchRequest:
      return Parse<MatchRequest>(payload);
    case MessageType::kSeedAcquire:
      return Parse<SeedAcquire>(payload);
    case MessageType::kSeedRelease:
      return Parse<SeedRelease>(payload);
    case MessageType::kStateOpSubmit:
      return Parse<StateOpSubmit>(payload);
    case MessageType::kOpCancel:
      return Parse<OpCancel>(payload);
    case MessageType::kStateSyncRequest:
      return Parse<StateSyncRequest>(payload);
    case MessageType::kTranscribeCancel:
      return Parse<TranscribeCancel>(payload);
    case MessageType::kTranscribeAudio:
      return Parse<TranscribeAudio>(payload);
    case MessageType::kStrategyRegister:
      return Parse<StrategyRegister>(payload);
    case MessageType::kBufAlloc:
      return Parse<BufAlloc>(payload);
    case MessageType::kBufAttach:
      return Parse<BufAttach>(payload);
    case MessageType::kBufRelease:
      return Parse<BufRelease>(payload);
    case MessageType::kPing:
      return Parse<Ping>(payload);
    case MessageType::kDrainRequest:
      return Parse<DrainRequest>(payload);
    case MessageType::kTelemetry:
      return Parse<Telemetry>(payload);
    default:
      return UnknownType(type, "worker");
  }
}

absl::StatusOr<WorkerMessage> ParseWorkerMessage(MessageType type, std::string_view payload) {
  absl::Status status = CheckLength(payload);
  if (!status.ok()) return status;
  switch (type) {
    case MessageType::kHelloAck:
      return Parse<HelloAck>(payload);
    case MessageType::kError:
      return Parse<Error>(payload);
    case MessageType::kRingAck:
      return Parse<RingAck>(payload);
    case MessageType::kControlAck:
      return Parse<ControlAck>(payload);
    case MessageType::kTickResult:
      return Parse<TickResult>(payload);
    case MessageType::kTickEmit:
      return Parse<TickEmit>(payload);
    case MessageType::kMatchResult:
      return Parse<MatchResult>(payload);
    case MessageType::kSeedGrant:
      return Parse<SeedGrant>(payload);
    case MessageType::kStateOpAccepted:
      return Parse<StateOpAccepted>(payload);
    case MessageType::kStateOpDone:
      return Parse<StateOpDone>(payload);
    case MessageType::kStateSyncResult:
      return Parse<StateSyncResult>(payload);
    case MessageType::kTranscribeSegment:
      return Parse<TranscribeSegment>(payload);
    case MessageType::kTranscribeProgress:
      return Parse<TranscribeProgress>(payload);
    case MessageType::kStrategyGrant:
      return Parse<StrategyGrant>(payload);
    case MessageType::kBufAlloced:
      return Parse<BufAlloced>(payload);
    case MessageType::kPong:
      return Parse<Pong>(payload);
    case MessageType::kDrained:
      return Parse<Drained>(payload);
    case MessageType::kTelemetry:
      return Parse<Telemetry>(payload);
    default:
      return UnknownType(type, "daemon");
  }
}

EncodedMessage Serialize(const DriverMessage& message) {
  return std::visit([&](const auto& m) { return Encode(TypeOf(message), ToProto(m)); }, message);
}

EncodedMessage Serialize(const WorkerMessage& message) {
  return std::visit([&](const auto& m) { return Encode(TypeOf(message), ToProto(m)); }, message);
}

}  // namespace superfluid::linkw
