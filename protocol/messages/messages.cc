#include "protocol/messages/messages.h"

#include <array>
#include <variant>

namespace superfluid::linkw {
namespace {

// In the order of the variants' alternatives.
constexpr std::array kDriverTypes = {MessageType::kHello,
                                     MessageType::kRingAttach,
                                     MessageType::kControlAttach,
                                     MessageType::kTickSubmit,
                                     MessageType::kMatchRequest,
                                     MessageType::kSeedAcquire,
                                     MessageType::kSeedRelease,
                                     MessageType::kStateOpSubmit,
                                     MessageType::kOpCancel,
                                     MessageType::kStateSyncRequest,
                                     MessageType::kTranscribeCancel,
                                     MessageType::kTranscribeAudio,
                                     MessageType::kStrategyRegister,
                                     MessageType::kBufAlloc,
                                     MessageType::kBufAttach,
                                     MessageType::kBufRelease,
                                     MessageType::kPing,
                                     MessageType::kDrainRequest,
                                     MessageType::kTelemetry};
static_assert(kDriverTypes.size() == std::variant_size_v<DriverMessage>);

constexpr std::array kWorkerTypes = {MessageType::kHelloAck,
                                     MessageType::kError,
                                     MessageType::kRingAck,
                                     MessageType::kControlAck,
                                     MessageType::kTickResult,
                                     MessageType::kTickEmit,
                                     MessageType::kMatchResult,
                                     MessageType::kSeedGrant,
                                     MessageType::kStateOpAccepted,
                                     MessageType::kStateOpDone,
                                     MessageType::kStateSyncResult,
                                     MessageType::kTranscribeSegment,
                                     MessageType::kTranscribeProgress,
                                     MessageType::kStrategyGrant,
                                     MessageType::kBufAlloced,
                                     MessageType::kPong,
                                     MessageType::kDrained,
                                     MessageType::kTelemetry};
static_assert(kWorkerTypes.size() == std::variant_size_v<WorkerMessage>);

}  // namespace

MessageType TypeOf(const DriverMessage& message) { return kDriverTypes[message.index()]; }

MessageType TypeOf(const WorkerMessage& message) { return kWorkerTypes[message.index()]; }

}  // namespace superfluid::linkw
