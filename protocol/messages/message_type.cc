#include "protocol/messages/message_type.h"

#include <algorithm>
#include <array>

namespace superfluid::linkw {
namespace {

// Messages without lists, what belongs to a tick or is about as large, and what carries bulk.
enum class SizeClass : uint8_t { kSmall, kTick, kBulk };

struct Row {
  MessageType type;
  std::string_view name;
  Direction direction;
  SizeClass size_class;
};

constexpr Direction kIn = Direction::kToWorker;
constexpr Direction kOut = Direction::kToDaemon;

// Sorted by type.
constexpr std::array kRows = {
    Row{MessageType::kHello, "HELLO", kIn, SizeClass::kSmall},
    Row{MessageType::kHelloAck, "HELLO_ACK_W", kOut, SizeClass::kBulk},
    Row{MessageType::kError, "ERROR", kOut, SizeClass::kSmall},
    Row{MessageType::kRingAttach, "RING_ATTACH", kIn, SizeClass::kSmall},
    Row{MessageType::kRingAck, "RING_ACK", kOut, SizeClass::kSmall},
    Row{MessageType::kControlAttach, "CONTROL_ATTACH", kIn, SizeClass::kSmall},
    Row{MessageType::kControlAck, "CONTROL_ACK", kOut, SizeClass::kSmall},
    Row{MessageType::kTickSubmit, "TICK_SUBMIT", kIn, SizeClass::kTick},
    Row{MessageType::kTickResult, "TICK_RESULT", kOut, SizeClass::kTick},
    Row{MessageType::kMatchRequest, "MATCH_REQ", kIn, SizeClass::kSmall},
    Row{MessageType::kMatchResult, "MATCH_RES", kOut, SizeClass::kSmall},
    Row{MessageType::kSeedAcquire, "SEED_ACQUIRE", kIn, SizeClass::kSmall},
    Row{MessageType::kSeedGrant, "SEED_GRANT", kOut, SizeClass::kSmall},
    Row{MessageType::kSeedRelease, "SEED_RELEASE", kIn, SizeClass::kSmall},
    Row{MessageType::kStateOpSubmit, "STATE_OP_SUBMIT", kIn, SizeClass::kSmall},
    Row{MessageType::kStateOpAccepted, "STATE_OP_ACCEPTED", kOut, SizeClass::kSmall},
    Row{MessageType::kStateOpDone, "STATE_OP_DONE", kOut, SizeClass::kSmall},
    Row{MessageType::kOpCancel, "OP_CANCEL", kIn, SizeClass::kSmall},
    Row{MessageType::kStateSyncRequest, "STATE_SYNC_REQ", kIn, SizeClass::kBulk},
    Row{MessageType::kStateSyncResult, "STATE_SYNC_RES", kOut, SizeClass::kBulk},
    Row{MessageType::kTranscribeSegment, "TRANSCRIBE_SEGMENT", kOut, SizeClass::kTick},
    Row{MessageType::kTranscribeCancel, "TRANSCRIBE_CANCEL", kIn, SizeClass::kSmall},
    Row{MessageType::kTranscribeAudio, "TRANSCRIBE_AUDIO", kIn, SizeClass::kBulk},
    Row{MessageType::kStrategyRegister, "STRATEGY_REGISTER", kIn, SizeClass::kBulk},
    Row{MessageType::kStrategyGrant, "STRATEGY_GRANT", kOut, SizeClass::kBulk},
    Row{MessageType::kBufAlloc, "BUF_ALLOC", kIn, SizeClass::kSmall},
    Row{MessageType::kBufAlloced, "BUF_ALLOCED", kOut, SizeClass::kSmall},
    Row{MessageType::kBufAttach, "BUF_ATTACH", kIn, SizeClass::kSmall},
    Row{MessageType::kBufRelease, "BUF_RELEASE", kIn, SizeClass::kSmall},
    Row{MessageType::kPing, "PING", kIn, SizeClass::kSmall},
    Row{MessageType::kPong, "PONG", kOut, SizeClass::kSmall},
    Row{MessageType::kDrainRequest, "DRAIN_REQ", kIn, SizeClass::kSmall},
    Row{MessageType::kDrained, "DRAINED", kOut, SizeClass::kSmall},
    Row{MessageType::kTickEmit, "TICK_EMIT", kOut, SizeClass::kTick},
    Row{MessageType::kTranscribeProgress, "TRANSCRIBE_PROGRESS", kOut, SizeClass::kSmall},
    Row{MessageType::kTelemetry, "TELEMETRY", Direction::kBoth, SizeClass::kSmall},
};

static_assert(std::is_sorted(kRows.begin(), kRows.end(),
                             [](const Row& a, const Row& b) { return a.type < b.type; }));

const Row* RowOf(MessageType type) {
  const auto* row = std::lower_bound(kRows.begin(), kRows.end(), type,
                                     [](const Row& r, MessageType t) { return r.type < t; });
  return row != kRows.end() && row->type == type ? row : nullptr;
}

}  // namespace

bool IsKnown(uint16_t type) { return RowOf(static_cast<MessageType>(type)) != nullptr; }

std::string_view MessageTypeName(MessageType type) {
  const Row* row = RowOf(type);
  return row == nullptr ? std::string_view("UNKNOWN") : row->name;
}

Direction DirectionOf(MessageType type) {
  const Row* row = RowOf(type);
  return row == nullptr ? Direction::kBoth : row->direction;
}

uint32_t PayloadLimit(MessageType type, uint32_t max_frame) {
  const Row* row = RowOf(type);
  if (row == nullptr || row->size_class == SizeClass::kBulk) return max_frame;
  return std::min(max_frame,
                  row->size_class == SizeClass::kTick ? kTickPayloadLimit : kSmallPayloadLimit);
}

}  // namespace superfluid::linkw
