#ifndef SUPERFLUID_PROTOCOL_MESSAGES_MESSAGE_TYPE_H_
#define SUPERFLUID_PROTOCOL_MESSAGES_MESSAGE_TYPE_H_

#include <cstdint>
#include <string_view>

namespace superfluid::linkw {

// The msg_type of a frame. Bit 15 set: droppable, by a writer whose peer reads slowly and by a
// reader that does not know it. Clear: required.
enum class MessageType : uint16_t {
  kHello = 0x0001,
  kHelloAck = 0x0002,
  kError = 0x0003,
  kRingAttach = 0x0010,
  kRingAck = 0x0011,
  kControlAttach = 0x0012,
  kControlAck = 0x0013,
  kTickSubmit = 0x0020,
  kTickResult = 0x0021,
  kTickEmit = 0x8022,
  kMatchRequest = 0x0030,
  kMatchResult = 0x0031,
  kSeedAcquire = 0x0032,
  kSeedGrant = 0x0033,
  kSeedRelease = 0x0034,
  kStateOpSubmit = 0x0040,
  kStateOpAccepted = 0x0041,
  kStateOpDone = 0x0042,
  kOpCancel = 0x0043,
  kStateSyncRequest = 0x0050,
  kStateSyncResult = 0x0051,
  kTranscribeSegment = 0x0052,
  kTranscribeCancel = 0x0053,
  kTranscribeAudio = 0x0054,
  kStrategyRegister = 0x0060,
  kStrategyGrant = 0x0061,
  kBufAlloc = 0x0070,
  kBufAlloced = 0x0071,
  kBufAttach = 0x0072,
  kBufRelease = 0x0073,
  kPing = 0x0080,
  kPong = 0x0081,
  kDrainRequest = 0x0082,
  kDrained = 0x0083,
  kTranscribeProgress = 0x8055,
  kTelemetry = 0x8090,
};

enum class Direction : uint8_t { kToWorker, kToDaemon, kBoth };

// The default of the announced max_frame, and the largest value that may be announced.
inline constexpr uint32_t kDefaultMaxFrame = 64u << 20;
// What a message of a tick, or a segment, may carry: one bad length cannot stall the hot path.
inline constexpr uint32_t kTickPayloadLimit = 256u << 10;
// What messages without bulk may carry.
inline constexpr uint32_t kSmallPayloadLimit = 64u << 10;

constexpr bool IsDroppable(uint16_t type) { return (type & 0x8000u) != 0; }
constexpr bool IsDroppable(MessageType type) { return IsDroppable(static_cast<uint16_t>(type)); }

// Whether `type` is an enumerator of MessageType.
bool IsKnown(uint16_t type);

// "TRANSCRIBE_SEGMENT"; "UNKNOWN" for a value outside the enum.
std::string_view MessageTypeName(MessageType type);

// Which side may send `type`; an unknown one: kBoth.
Direction DirectionOf(MessageType type);

// The most payload bytes that a frame of `type` may have: the limit of its class, or `max_frame` if
// that is less. An unknown type's is `max_frame`: its bytes are skipped, not kept.
uint32_t PayloadLimit(MessageType type, uint32_t max_frame);

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_PROTOCOL_MESSAGES_MESSAGE_TYPE_H_
