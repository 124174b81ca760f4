#ifndef SUPERFLUID_TESTS_SIMULATION_MESSAGE_NAMES_H_
#define SUPERFLUID_TESTS_SIMULATION_MESSAGE_NAMES_H_

#include <cstdint>
#include <string>

#include "protocol/messages/message_type.h"
#include "protocol/messages/messages.h"
#include "protocol/messages/status.h"

namespace superfluid::simulation {

inline constexpr int64_t kMs = 1'000'000;  // in nanoseconds

inline std::string NameOfStatus(linkw::Status status) {
  return std::string(linkw::StatusName(status));
}
inline std::string NameOfType(linkw::MessageType type) {
  return std::string(linkw::MessageTypeName(type));
}

// Gives the type of a message: std::visit(TypeOf(), message).
struct TypeOf {
  linkw::MessageType operator()(const linkw::Hello&) const { return linkw::MessageType::kHello; }
  linkw::MessageType operator()(const linkw::RingAttach&) const {
    return linkw::MessageType::kRingAttach;
  }
  linkw::MessageType operator()(const linkw::ControlAttach&) const {
    return linkw::MessageType::kControlAttach;
  }
  linkw::MessageType operator()(const linkw::TickSubmit&) const {
    return linkw::MessageType::kTickSubmit;
  }
  linkw::MessageType operator()(const linkw::MatchRequest&) const {
    return linkw::MessageType::kMatchRequest;
  }
  linkw::MessageType operator()(const linkw::SeedAcquire&) const {
    return linkw::MessageType::kSeedAcquire;
  }
  linkw::MessageType operator()(const linkw::SeedRelease&) const {
    return linkw::MessageType::kSeedRelease;
  }
  linkw::MessageType operator()(const linkw::StateOpSubmit&) const {
    return linkw::MessageType::kStateOpSubmit;
  }
  linkw::MessageType operator()(const linkw::OpCancel&) const {
    return linkw::MessageType::kOpCancel;
  }
  linkw::MessageType operator()(const linkw::StateSyncRequest&) const {
    return linkw::MessageType::kStateSyncRequest;
  }
  linkw::MessageType operator()(const linkw::TranscribeCancel&) const {
    return linkw::MessageType::kTranscribeCancel;
  }
  linkw::MessageType operator()(const linkw::TranscribeAudio&) const {
    return linkw::MessageType::kTranscribeAudio;
  }
  linkw::MessageType operator()(const linkw::StrategyRegister&) const {
    return linkw::MessageType::kStrategyRegister;
  }
  linkw::MessageType operator()(const linkw::BufAlloc&) const {
    return linkw::MessageType::kBufAlloc;
  }
  linkw::MessageType operator()(const linkw::BufAttach&) const {
    return linkw::MessageType::kBufAttach;
  }
  linkw::MessageType operator()(const linkw::BufRelease&) const {
    return linkw::MessageType::kBufRelease;
  }
  linkw::MessageType operator()(const linkw::Ping&) const { return linkw::MessageType::kPing; }
  linkw::MessageType operator()(const linkw::DrainRequest&) const {
    return linkw::MessageType::kDrainRequest;
  }
  linkw::MessageType operator()(const linkw::Telemetry&) const {
    return linkw::MessageType::kTelemetry;
  }

  linkw::MessageType operator()(const linkw::HelloAck&) const {
    return linkw::MessageType::kHelloAck;
  }
  linkw::MessageType operator()(const linkw::Error&) const { return linkw::MessageType::kError; }
  linkw::MessageType operator()(const linkw::RingAck&) const {
    return linkw::MessageType::kRingAck;
  }
  linkw::MessageType operator()(const linkw::ControlAck&) const {
    return linkw::MessageType::kControlAck;
  }
  linkw::MessageType operator()(const linkw::TickResult&) const {
    return linkw::MessageType::kTickResult;
  }
  linkw::MessageType operator()(const linkw::TickEmit&) const {
    return linkw::MessageType::kTickEmit;
  }
  linkw::MessageType operator()(const linkw::MatchResult&) const {
    return linkw::MessageType::kMatchResult;
  }
  linkw::MessageType operator()(const linkw::SeedGrant&) const {
    return linkw::MessageType::kSeedGrant;
  }
  linkw::MessageType operator()(const linkw::StateOpAccepted&) const {
    return linkw::MessageType::kStateOpAccepted;
  }
  linkw::MessageType operator()(const linkw::StateOpDone&) const {
    return linkw::MessageType::kStateOpDone;
  }
  linkw::MessageType operator()(const linkw::StateSyncResult&) const {
    return linkw::MessageType::kStateSyncResult;
  }
  linkw::MessageType operator()(const linkw::TranscribeSegment&) const {
    return linkw::MessageType::kTranscribeSegment;
  }
  linkw::MessageType operator()(const linkw::TranscribeProgress&) const {
    return linkw::MessageType::kTranscribeProgress;
  }
  linkw::MessageType operator()(const linkw::StrategyGrant&) const {
    return linkw::MessageType::kStrategyGrant;
  }
  linkw::MessageType operator()(const linkw::BufAlloced&) const {
    return linkw::MessageType::kBufAlloced;
  }
  linkw::MessageType operator()(const linkw::Pong&) const { return linkw::MessageType::kPong; }
  linkw::MessageType operator()(const linkw::Drained&) const {
    return linkw::MessageType::kDrained;
  }
};

// Returns the type of the message that answers a message of `type`; kError: none does.
inline linkw::MessageType AnswerTo(linkw::MessageType type) {
  switch (type) {
    case linkw::MessageType::kHello:
      return linkw::MessageType::kHelloAck;
    case linkw::MessageType::kRingAttach:
      return linkw::MessageType::kRingAck;
    case linkw::MessageType::kControlAttach:
      return linkw::MessageType::kControlAck;
    case linkw::MessageType::kTickSubmit:
      return linkw::MessageType::kTickResult;
    case linkw::MessageType::kMatchRequest:
      return linkw::MessageType::kMatchResult;
    case linkw::MessageType::kSeedAcquire:
      return linkw::MessageType::kSeedGrant;
    case linkw::MessageType::kStateSyncRequest:
      return linkw::MessageType::kStateSyncResult;
    case linkw::MessageType::kStrategyRegister:
      return linkw::MessageType::kStrategyGrant;
    case linkw::MessageType::kBufAlloc:
      return linkw::MessageType::kBufAlloced;
    case linkw::MessageType::kPing:
      return linkw::MessageType::kPong;
    case linkw::MessageType::kDrainRequest:
      return linkw::MessageType::kDrained;
    default:
      return linkw::MessageType::kError;
  }
}

}  // namespace superfluid::simulation

#endif  // SUPERFLUID_TESTS_SIMULATION_MESSAGE_NAMES_H_
