#ifndef SUPERFLUID_ACTORS_RUNTIME_REFUSAL_H_
#define SUPERFLUID_ACTORS_RUNTIME_REFUSAL_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/messages/messages.h"
#include "protocol/messages/status.h"

namespace superfluid {

// The answer that refuses a request of type `request`: the typed reply with `status` where its type
// has one, else a non-fatal ERROR. Both keep the link. `status` must not be kOk.
linkw::WorkerMessage Refuse(linkw::MessageType request, linkw::Status status, std::string message);

// The answer in place of one of type `answer` that would not fit into a frame; nullopt for messages
// that precede the answer of their request (segments, emits) or answer none: it would be answered
// twice.
std::optional<linkw::WorkerMessage> AnswerTooLarge(linkw::MessageType answer, size_t payload_bytes);

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_RUNTIME_REFUSAL_H_
