#ifndef SUPERFLUID_ACTORS_MESSAGES_STATE_OPS_INTERFACE_H_
#define SUPERFLUID_ACTORS_MESSAGES_STATE_OPS_INTERFACE_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "actors/messages/request_token.h"
#include "actors/messages/type_ids.h"
#include "actors/runtime/caf_compat.h"
#include "protocol/codec/state_envelope.h"
#include "protocol/messages/messages.h"
#include "shm/owned_fd.h"
#include "shm/segment.h"

namespace superfluid {

// Make a sealed segment of `bytes` and know it under the peer's id; answered by one
// BufferAllocated. From Dispatcher.
struct AllocateBuffer {
  uint64_t seq = 0;
  linkw::BufId id{};
  uint64_t bytes = 0;
  std::shared_ptr<const void> credit;  // of the frame that asked; held until the answer
};

// Map the peer's segment under the peer's id; answered by one BufferAttached. From Dispatcher, with
// the descriptor already paired.
struct AttachBuffer {
  uint64_t seq = 0;
  linkw::BufId id{};
  uint64_t bytes = 0;
  std::shared_ptr<OwnedFd> fd;
  std::shared_ptr<const void> credit;  // of the frame that asked; held until the answer
};

// Forget the buffer's id at once, and its memory when the last piece of work that uses it is done.
// From Dispatcher.
struct ReleaseBuffer {
  linkw::BufId id{};
  // Unless the id is another buffer's by now; null: whichever it is.
  std::shared_ptr<const Segment> only;
};

// The answer to BindBuffer: the buffer stays mapped for as long as the segment is held.
struct BufferBound {
  absl::Status status;
  std::shared_ptr<const Segment> segment;
};
using BufferUser = compat::Handle<caf::result<void>(BufferBound)>;

// Hand the buffer to a piece of work. From Dispatcher, when it routes the request, so that a
// release that the peer sent later comes later here as well. Answered to `user`, in the order
// asked.
struct BindBuffer {
  linkw::BufId id{};
  BufferUser user;
};

// The same for the call `seq`, which is no actor; answered by one BufferLent. From Dispatcher.
struct LendBuffer {
  uint64_t seq = 0;
  linkw::BufId id{};
};

// A state op with its handle. From Dispatcher, which has told EngineActor before (ReserveOp).
// Accepted, and Done if it was accepted, go to the peer from here; Dispatcher hears
// RequestFinished.
struct SubmitOp {
  uint64_t seq = 0;
  linkw::OpHandle handle{};
  linkw::StateOp op;
  std::shared_ptr<RequestToken> token;
};

// The engine is done with an op. From EngineActor, exactly one for each RunOp.
struct OpEnded {
  uint64_t seq = 0;
  absl::Status status;
  linkw::StateEnvelope envelope;  // of an export: what to seal it with
  uint64_t bytes_moved = 0;
};

// What an import reads was copied out and checked, or why not. From a thread that may block.
struct ImportCopied {
  uint64_t seq = 0;
  absl::Status status;
};

// What an export wrote has this checksum, or was given up. From a thread that may block.
struct ExportHashed {
  uint64_t seq = 0;
  absl::Status status;
  uint64_t payload_hash = 0;
};

// Owns one link's buffers and its op window. See state_ops.h.
using StateOps = compat::Handle<caf::result<void>(AllocateBuffer), caf::result<void>(AttachBuffer),
                                caf::result<void>(ReleaseBuffer), caf::result<void>(BindBuffer),
                                caf::result<void>(LendBuffer), caf::result<void>(SubmitOp),
                                caf::result<void>(OpEnded), caf::result<void>(ImportCopied),
                                caf::result<void>(ExportHashed)>;

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_MESSAGES_STATE_OPS_INTERFACE_H_
