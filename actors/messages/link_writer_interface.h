#ifndef SUPERFLUID_ACTORS_MESSAGES_LINK_WRITER_INTERFACE_H_
#define SUPERFLUID_ACTORS_MESSAGES_LINK_WRITER_INTERFACE_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "actors/messages/type_ids.h"
#include "actors/runtime/caf_compat.h"
#include "protocol/messages/messages.h"

namespace superfluid {

// One frame left the queue: it was handed to the socket, or dropped because it was droppable and
// the peer does not read. Sent to whoever asked for it, as credit for the next.
struct FrameWritten {
  uint64_t payload_bytes = 0;
  bool dropped = false;
};
using FrameWrittenSink = compat::Handle<caf::result<void>(FrameWritten)>;

// Sends `message` as one frame that answers the request `correlation` (0: none). Messages of one
// sender leave in the order sent. `ack_to` may be empty.
struct SendMessage {
  uint64_t correlation = 0;
  std::shared_ptr<const linkw::WorkerMessage> message;
  FrameWrittenSink ack_to;
};

// The socket may take bytes again. Sent by the writer's stream to the writer.
struct WriteSocket {};

// Sends `last_word`, if any, as the answer to the request `correlation` (0: none), writes what is
// queued for at most the writer's linger time, then shuts the socket down and ends the writer.
// Later messages are discarded.
struct CloseLink {
  std::optional<linkw::Error> last_word;
  uint64_t correlation = 0;
};

// Numbers, encodes and writes one link's frames. See link_writer.h.
using LinkWriter = compat::Handle<caf::result<void>(SendMessage), caf::result<void>(WriteSocket),
                                  caf::result<void>(CloseLink)>;

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_MESSAGES_LINK_WRITER_INTERFACE_H_
