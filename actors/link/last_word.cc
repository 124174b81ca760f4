#include "actors/link/last_word.h"

#include <utility>

#include "absl/status/statusor.h"
#include "protocol/codec/codec.h"
#include "protocol/frames/frame.h"
#include "protocol/messages/messages.h"

namespace superfluid {

std::string LastWord(linkw::Status status, std::string reason, uint64_t correlation) {
  const linkw::EncodedMessage error = linkw::Serialize(linkw::WorkerMessage(
      linkw::Error{.status = status, .message = std::move(reason), .detail = {}, .fatal = true}));
  absl::StatusOr<std::string> frame =
      linkw::FrameEncoder().Encode(error.type, correlation, error.payload);
  return frame.ok() ? *std::move(frame) : std::string();
}

}  // namespace superfluid
