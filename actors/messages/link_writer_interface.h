#ifndef SUPERFLUID_ACTORS_MESSAGES_LINK_WRITER_INTERFACE_H_
#define SUPERFLUID_ACTORS_MESSAGES_LINK_WRITER_INTERFACE_H_

#include <atomic>
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

// The answers of one link that wait for its socket, counted without messages: by whoever hands one
// to LinkWriter, and by LinkWriter. Shared through std::shared_ptr.
//
// Invariants:
//  1. An answer is counted before it is handed over: the count is never below what waits.
//  2. Once Await returned true, the NoteWritten that takes the count back to the limit returns
//     true.
//
// Threads: Await the dispatcher's; the rest any.
class UnsentReplies {
 public:
  explicit UnsentReplies(int64_t most) : most_(most) {}

  // Counts an answer that is about to be handed to the writer.
  void NoteHandedOver() { unsent_.fetch_add(1); }

  // Counts an answer that left. Returns whether the dispatcher waits for that and has to be told
  // (RepliesWritten); once.
  bool NoteWritten() {
    const int64_t left = unsent_.fetch_sub(1) - 1;
    return left <= most_ && waits_.load() && waits_.exchange(false);
  }

  // Has the dispatcher told when no more than the limit wait. Returns false if that is so now; it
  // may be told all the same.
  bool Await() {
    waits_.store(true);
    if (IsAboveLimit()) return true;
    waits_.store(false);
    return false;
  }

  bool IsAboveLimit() const { return unsent_.load() > most_; }
  int64_t unsent() const { return unsent_.load(); }

 private:
  const int64_t most_;
  std::atomic<int64_t> unsent_{0};
  std::atomic<bool> waits_{false};
};

// No more answers wait for the socket than may. From LinkWriter to its dispatcher, for each Await.
struct RepliesWritten {};

// Sends `message` as one frame that answers the request `correlation` (0: none). Messages of one
// sender leave in the order sent.
struct SendMessage {
  uint64_t correlation = 0;
  std::shared_ptr<const linkw::WorkerMessage> message;
  FrameWrittenSink ack_to = {};                    // may be empty
  std::shared_ptr<UnsentReplies> counted_by = {};  // of an answer: counted by its sender before
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
