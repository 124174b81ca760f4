#ifndef SUPERFLUID_ACTORS_LINK_ADMISSION_H_
#define SUPERFLUID_ACTORS_LINK_ADMISSION_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "protocol/messages/message_type.h"
#include "protocol/messages/messages.h"

namespace superfluid {

enum class LinkPhase {
  kAwaitingHello,
  kClaimingRole,  // HELLO came; whether this link may have its role is being decided
  kOpen,
  kDraining,
  kEnded,
};

// Whether a message may be handled in this phase, by this role. OK, or: a link error
// (linkw::IsLinkError: a message before HELLO, a second HELLO), DRAINING for new work, or
// PERMISSION_DENIED for an observer that wants more than to look.
absl::Status Admit(LinkPhase phase, linkw::Role role, linkw::MessageType type);

// Whether a message overtakes those that are held back: PING and cancels.
bool Overtakes(linkw::MessageType type);

// Returns the bytes of credit that a frame takes. Live audio takes some for its bookkeeping, too:
// its frames are not counted while they wait for the engine.
uint64_t BytesOfCredit(linkw::MessageType type, size_t payload_bytes);

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_LINK_ADMISSION_H_
