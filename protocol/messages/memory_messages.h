#ifndef SUPERFLUID_PROTOCOL_MESSAGES_MEMORY_MESSAGES_H_
#define SUPERFLUID_PROTOCOL_MESSAGES_MEMORY_MESSAGES_H_

#include <cstdint>
#include <string>

#include "protocol/messages/ids.h"
#include "protocol/messages/status.h"

// Messages about shared memory. The descriptors themselves travel on the fds channel, tagged.
namespace superfluid::linkw {

enum class RingKind : uint8_t { kTokens = 1, kLogits = 2 };

struct RingSpec {
  RingId ring_id{};
  RingKind kind = RingKind::kTokens;
  uint32_t slot_bytes = 0;
  uint32_t slots = 0;
  bool operator==(const RingSpec&) const = default;
};

// The fd comes with tag = ring_id. `layout` must equal the announced spec.
struct RingAttach {
  RingId ring_id{};
  RingSpec layout;
  bool operator==(const RingAttach&) const = default;
};

struct RingAck {
  RingId ring_id{};
  uint64_t generation_base = 1;
  bool operator==(const RingAck&) const = default;
};

// The fd comes with tag = kControlTag.
struct ControlAttach {
  uint64_t bytes = 0;
  bool operator==(const ControlAttach&) const = default;
};

struct ControlAck {
  uint64_t bytes = 0;
  bool operator==(const ControlAck&) const = default;
};

// Asks the worker for a sealed memfd of `len` bytes, known as `buf_id` from then on.
struct BufAlloc {
  BufId buf_id{};
  uint64_t len = 0;
  bool operator==(const BufAlloc&) const = default;
};

// If kOk, the fd comes with tag = buf_id.
struct BufAlloced {
  Status status = Status::kOk;
  std::string message;
  BufId buf_id{};
  uint64_t len = 0;
  bool operator==(const BufAlloced&) const = default;
};

// The fd comes with tag = buf_id. No reply; an error is an ERROR frame.
struct BufAttach {
  BufId buf_id{};
  uint64_t len = 0;
  bool operator==(const BufAttach&) const = default;
};

// At once, or when the op bound to it is done. No reply.
struct BufRelease {
  BufId buf_id{};
  bool operator==(const BufRelease&) const = default;
};

// Bytes of a buffer. Overflow and the buffer's end are for whoever resolves it to check.
struct BufferSpan {
  BufId buf_id{};
  uint64_t offset = 0;
  uint64_t length = 0;
  bool operator==(const BufferSpan&) const = default;
};

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_PROTOCOL_MESSAGES_MEMORY_MESSAGES_H_
