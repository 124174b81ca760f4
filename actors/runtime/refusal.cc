#include "actors/runtime/refusal.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace superfluid {
namespace {

// A reply of type T that says no. All typed replies begin with these two fields.
template <class T>
linkw::WorkerMessage Typed(linkw::Status status, const std::string& message) {
  T reply;
  reply.status = status;
  reply.message = message;
  return reply;
}

}  // namespace

linkw::WorkerMessage Refuse(linkw::MessageType request, linkw::Status status, std::string message) {
  switch (request) {
    case linkw::MessageType::kTickSubmit:
      return Typed<linkw::TickResult>(status, message);
    case linkw::MessageType::kMatchRequest:
      return Typed<linkw::MatchResult>(status, message);
    case linkw::MessageType::kSeedAcquire:
      return Typed<linkw::SeedGrant>(status, message);
    case linkw::MessageType::kStateOpSubmit:
      return Typed<linkw::StateOpAccepted>(status, message);
    case linkw::MessageType::kStateSyncRequest:
      return Typed<linkw::StateSyncResult>(status, message);
    case linkw::MessageType::kStrategyRegister:
      return Typed<linkw::StrategyGrant>(status, message);
    case linkw::MessageType::kBufAlloc:
      return Typed<linkw::BufAlloced>(status, message);
    default:
      return linkw::Error{.status = status,
                          .message = std::move(message),
                          .detail = std::string(linkw::MessageTypeName(request)),
                          .fatal = false};
  }
}

std::optional<linkw::WorkerMessage> AnswerTooLarge(linkw::MessageType answer,
                                                   size_t payload_bytes) {
  if (answer == linkw::MessageType::kTranscribeSegment || linkw::IsDroppable(answer)) {
    return std::nullopt;
  }
  std::string message =
      absl::StrCat("the answer has ", payload_bytes, " bytes, more than a frame of the link may");
  if (answer == linkw::MessageType::kStateSyncResult) {
    return Typed<linkw::StateSyncResult>(linkw::Status::kTooLarge, message);
  }
  return linkw::Error{.status = linkw::Status::kTooLarge,
                      .message = std::move(message),
                      .detail = std::string(linkw::MessageTypeName(answer)),
                      .fatal = false};
}

}  // namespace superfluid
