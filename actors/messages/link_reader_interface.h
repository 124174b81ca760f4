#ifndef SUPERFLUID_ACTORS_MESSAGES_LINK_READER_INTERFACE_H_
#define SUPERFLUID_ACTORS_MESSAGES_LINK_READER_INTERFACE_H_

#include "actors/messages/type_ids.h"
#include "actors/runtime/caf_compat.h"

namespace superfluid {

// The socket is readable, or has ended. Sent by the reader's stream to the reader.
struct ReadSocket {};

// A reader without credit has some again. Credit is what bounds the dispatcher's mailbox; without
// any, the reader leaves the peer's bytes in the socket. Sent by who gives it back (ReadCredit).
struct CreditGiven {};

// The peer has closed both directions of the socket, or vanished. Sent by the reader's stream to a
// reader that does not read for want of credit.
struct PeerGone {};

// Reads one link's frames socket and hands whole frames to the dispatcher. See link_reader.h.
using LinkReader = compat::Handle<caf::result<void>(ReadSocket), caf::result<void>(CreditGiven),
                                  caf::result<void>(PeerGone)>;

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_MESSAGES_LINK_READER_INTERFACE_H_
