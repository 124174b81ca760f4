#include "protocol/codec/codec.h"

#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "protocol/codec/cache_convert.h"
#include "protocol/codec/convert_common.h"
#include "protocol/codec/direct_tick.h"
#include "protocol/codec/memory_convert.h"
#include "protocol/codec/quick_scan.h"
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
  static const QuickTable& table = QuickTableOf(rules);
  if (!QuickScan(table, payload)) {
    absl::Status status = ScanPayload(rules, payload);
    if (!status.ok()) return status;
  }
  Proto proto;
  if (!proto.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) {
    return MakeStatus(Status::kProtocolError, absl::StrCat(rules.name, ": undecodable"));
  }
  return FromProto(std::move(proto));
}

// The same for what can be read without Protobuf; what is refused is left to Protobuf.
template <typename T>
absl::StatusOr<T> ParseTick(std::string_view payload) {
  T message;
  if (ReadDirect(payload, message)) return message;
  return Parse<T>(payload);
}

absl::Status UnknownType(MessageType type, std::string_view reader) {
  return MakeStatus(Status::kUnimplemented,
                    absl::StrFormat("0x%04x %s is not a message for a %s", static_cast<int>(type),
                                    AbslView(MessageTypeName(type)), AbslView(reader)));
}

// The payload behind `room` bytes of unspecified contents.
template <typename T>
std::string PayloadOf(const T& message, size_t room) {
  if constexpr (requires { WriteDirect(message, room); }) {
    return WriteDirect(message, room);
  } else {
    const auto proto = ToProto(message);
    std::string bytes;
    bytes.reserve(room + proto.ByteSizeLong());
    bytes.resize(room);
    proto.AppendToString(&bytes);
    return bytes;
  }
}

template <typename Message>
std::string PayloadOfAny(const Message& message, size_t room) {
  return std::visit([room](const auto& content) { return PayloadOf(content, room); }, message);
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
      return ParseTick<TickSubmit>(payload);
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
      return ParseTick<TickResult>(payload);
    case MessageType::kTickEmit:
      return ParseTick<TickEmit>(payload);
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
  return {TypeOf(message), PayloadOfAny(message, 0)};
}

EncodedMessage Serialize(const WorkerMessage& message) {
  return {TypeOf(message), PayloadOfAny(message, 0)};
}

UnfinishedFrame SerializeFrame(const DriverMessage& message) {
  return {TypeOf(message), PayloadOfAny(message, kFrameHeaderBytes)};
}

UnfinishedFrame SerializeFrame(const WorkerMessage& message) {
  return {TypeOf(message), PayloadOfAny(message, kFrameHeaderBytes)};
}

}  // namespace superfluid::linkw
