#ifndef SUPERFLUID_ACTORS_LINK_LAST_WORD_H_
#define SUPERFLUID_ACTORS_LINK_LAST_WORD_H_

#include <cstdint>
#include <string>

#include "protocol/messages/status.h"

namespace superfluid {

// Returns the one frame, a fatal ERROR, that a peer gets whose connection never becomes a link.
// `correlation` is the seq of its HELLO, 0 if none came. Empty if `reason` does not fit.
std::string LastWord(linkw::Status status, std::string reason, uint64_t correlation);

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_LINK_LAST_WORD_H_
