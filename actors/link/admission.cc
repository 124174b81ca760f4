#include "actors/link/admission.h"

#include <algorithm>
#include <string>

#include "protocol/messages/status.h"

namespace superfluid {
namespace {

using linkw::MessageType;

// What asks for something new, as opposed to looking, ending or finishing what was begun.
bool IsNewWork(MessageType type) {
  switch (type) {
    case MessageType::kRingAttach:
    case MessageType::kControlAttach:
    case MessageType::kTickSubmit:
    case MessageType::kMatchRequest:
    case MessageType::kSeedAcquire:
    case MessageType::kStateOpSubmit:
    case MessageType::kStateSyncRequest:
    case MessageType::kStrategyRegister:
    case MessageType::kBufAlloc:
    case MessageType::kBufAttach:
      return true;
    default:
      return false;
  }
}

bool MayObserve(MessageType type) {
  return type == MessageType::kPing || type == MessageType::kTelemetry ||
         // Of these the router lets only CAPABILITIES and a shut-down through.
         type == MessageType::kStateSyncRequest || type == MessageType::kDrainRequest;
}

}  // namespace

absl::Status Admit(LinkPhase phase, linkw::Role role, linkw::MessageType type) {
  const bool is_hello = type == MessageType::kHello;
  if (phase == LinkPhase::kAwaitingHello) {
    if (is_hello || type == MessageType::kPing) return absl::OkStatus();
    return linkw::MakeStatus(linkw::Status::kProtocolError,
                             std::string(linkw::MessageTypeName(type)) + " before HELLO");
  }
  if (is_hello) return linkw::MakeStatus(linkw::Status::kProtocolError, "a second HELLO");
  if (role == linkw::Role::kObserver && phase != LinkPhase::kClaimingRole && !MayObserve(type)) {
    return linkw::MakeStatus(
        linkw::Status::kPermissionDenied,
        "an observer may not send " + std::string(linkw::MessageTypeName(type)));
  }
  if (phase == LinkPhase::kDraining && IsNewWork(type)) {
    return linkw::MakeStatus(linkw::Status::kDraining, "the worker is draining");
  }
  return absl::OkStatus();
}

bool Overtakes(linkw::MessageType type) {
  return type == MessageType::kPing || type == MessageType::kTranscribeCancel ||
         type == MessageType::kOpCancel;
}

uint64_t BytesOfCredit(linkw::MessageType type, size_t payload_bytes) {
  static constexpr size_t kAudioFrameBytes = 256;
  return type == MessageType::kTranscribeAudio ? std::max(payload_bytes, kAudioFrameBytes)
                                               : payload_bytes;
}

}  // namespace superfluid
