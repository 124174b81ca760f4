#ifndef SUPERFLUID_ACTORS_MESSAGES_LINK_READER_INTERFACE_H_
#define SUPERFLUID_ACTORS_MESSAGES_LINK_READER_INTERFACE_H_

#include <cstdint>

#include "actors/messages/type_ids.h"
#include "actors/runtime/caf_compat.h"

namespace superfluid {

// The socket is readable, or has ended. Sent by the reader's stream to the reader.
struct ReadSocket {};

// The dispatcher is done with these frames: as many more may be sent to it. Credit is what bounds
// its mailbox; without any, the reader leaves the peer's bytes in the socket. Frames that overtake
// the others (admission.h) have a credit of their own.
struct GrantFrames {
  uint32_t frames = 0;
  uint32_t urgent_frames = 0;
  uint64_t payload_bytes = 0;
};

// Reads one link's frames socket and hands whole frames to the dispatcher. See link_reader.h.
using LinkReader = compat::Handle<caf::result<void>(ReadSocket), caf::result<void>(GrantFrames)>;

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_MESSAGES_LINK_READER_INTERFACE_H_
