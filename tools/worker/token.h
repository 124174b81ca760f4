#ifndef SUPERFLUID_TOOLS_WORKER_TOKEN_H_
#define SUPERFLUID_TOOLS_WORKER_TOKEN_H_

#include "protocol/messages/ids.h"

namespace superfluid {

// 16 bytes from the system's random generator, never all zero and never beginning like a frame (a
// listening worker tells the two by their first bytes). Aborts if the system has no randomness.
linkw::LinkToken MakeLinkToken();

}  // namespace superfluid

#endif  // SUPERFLUID_TOOLS_WORKER_TOKEN_H_
