#ifndef SUPERFLUID_PROTOCOL_MESSAGES_MESSAGES_H_
#define SUPERFLUID_PROTOCOL_MESSAGES_MESSAGES_H_

#include <variant>

#include "protocol/messages/cache_messages.h"
#include "protocol/messages/ids.h"
#include "protocol/messages/memory_messages.h"
#include "protocol/messages/message_type.h"
#include "protocol/messages/session_messages.h"
#include "protocol/messages/state_op_messages.h"
#include "protocol/messages/state_sync_messages.h"
#include "protocol/messages/status.h"
#include "protocol/messages/strategy_messages.h"
#include "protocol/messages/tick_messages.h"
#include "protocol/messages/transcribe_messages.h"

// Every message of Link W as a plain value. linkw.proto is their wire form, codec.h the way between
// the two.
namespace superfluid::linkw {

// What a daemon sends to a worker.
using DriverMessage =
    std::variant<Hello, RingAttach, ControlAttach, TickSubmit, MatchRequest, SeedAcquire,
                 SeedRelease, StateOpSubmit, OpCancel, StateSyncRequest, TranscribeCancel,
                 TranscribeAudio, StrategyRegister, BufAlloc, BufAttach, BufRelease, Ping,
                 DrainRequest, Telemetry>;

// What a worker sends to a daemon.
using WorkerMessage =
    std::variant<HelloAck, Error, RingAck, ControlAck, TickResult, TickEmit, MatchResult, SeedGrant,
                 StateOpAccepted, StateOpDone, StateSyncResult, TranscribeSegment,
                 TranscribeProgress, StrategyGrant, BufAlloced, Pong, Drained, Telemetry>;

MessageType TypeOf(const DriverMessage& message);
MessageType TypeOf(const WorkerMessage& message);

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_PROTOCOL_MESSAGES_MESSAGES_H_
