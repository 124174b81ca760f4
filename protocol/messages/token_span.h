#ifndef SUPERFLUID_PROTOCOL_MESSAGES_TOKEN_SPAN_H_
#define SUPERFLUID_PROTOCOL_MESSAGES_TOKEN_SPAN_H_

#include <cstdint>

#include "protocol/messages/ids.h"

namespace superfluid::linkw {

// Tokens in a ring slot. A hint of the peer: read it through the ring, which checks all of it.
struct TokenSpan {
  RingId ring_id{};
  uint32_t slot = 0;
  uint64_t generation = 0;  // even
  uint32_t offset = 0;      // elements, not bytes
  uint32_t count = 0;
  bool operator==(const TokenSpan&) const = default;
};

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_PROTOCOL_MESSAGES_TOKEN_SPAN_H_
