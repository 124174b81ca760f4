#ifndef SUPERFLUID_ACTORS_MESSAGES_DISPATCHER_INTERFACE_H_
#define SUPERFLUID_ACTORS_MESSAGES_DISPATCHER_INTERFACE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "actors/messages/drain_scope.h"
#include "actors/messages/link_writer_interface.h"
#include "actors/messages/loaded_engine.h"
#include "actors/messages/type_ids.h"
#include "actors/runtime/caf_compat.h"
#include "protocol/frames/frame.h"
#include "protocol/messages/messages.h"
#include "protocol/messages/status.h"
#include "shm/fd_channel.h"
#include "shm/owned_fd.h"
#include "shm/segment.h"

namespace superfluid {

// A whole frame arrived. From LinkReader, in the order of the socket.
struct FrameReceived {
  std::shared_ptr<const linkw::Frame> frame;
};

// The message of a frame that is too large to be decoded on the link's thread, or what is wrong
// with it. From a thread that may block.
struct FrameDecoded {
  uint64_t seq = 0;
  std::shared_ptr<absl::StatusOr<linkw::DriverMessage>> message;
};

// No more frames will come: OK if the peer closed its end between two frames, else what was wrong
// (a link error, which the peer is told before the link closes). From LinkReader, once.
struct ReadingEnded {
  absl::Status status;
};

// The peer cannot be written to any more. From LinkWriter, once.
struct WritingFailed {
  absl::Status status;
};

// A descriptor arrived. From FdReceiver.
struct DescriptorReceived {
  uint64_t tag = 0;
  std::shared_ptr<OwnedFd> fd;
};

// No more descriptors will come: the channel has ended. From FdReceiver, once.
struct DescriptorsEnded {};

// The link's second socket is there. From Supervisor, once for each connection that names the link:
// the first one counts.
struct DescriptorChannelOpened {
  std::shared_ptr<FdChannel> channel;
};

// Time to look whether an awaited or an unclaimed descriptor is overdue. To itself.
struct DescriptorOverdue {};

// The earliest deadline of an open request may have passed. To itself.
struct DeadlineReached {};

// A request is over: its last answer was handed to LinkWriter, and the engine holds nothing of it.
// From the actor that handed it over, or that would have if it had not been answered before. Until
// it comes the request's token says whether it was answered (RequestToken::MarkAnswered), and the
// link's UnsentReplies that its answer waits.
struct RequestFinished {
  uint64_t seq = 0;
};

// The engine has run a call (RunCall). From EngineActor, once.
struct CallDone {
  uint64_t seq = 0;
  std::shared_ptr<const linkw::WorkerMessage> answer;
};

// The answer to AllocateBuffer. From StateOps.
struct BufferAllocated {
  uint64_t seq = 0;
  linkw::BufId id{};
  uint64_t bytes = 0;
  absl::Status status;
  std::shared_ptr<const Segment> segment;
  std::shared_ptr<const void> credit;
};

// The answer to AttachBuffer. From StateOps.
struct BufferAttached {
  uint64_t seq = 0;
  absl::Status status;
  std::shared_ptr<const void> credit;
};

// The answer to LendBuffer: the buffer stays mapped for as long as the segment is held. From
// StateOps.
struct BufferLent {
  uint64_t seq = 0;
  absl::Status status;
  std::shared_ptr<const Segment> segment;
};

// The artifacts of a strategy were compared with their hashes and sizes. `strategy` names paths
// that the engine can open while `files` is held. From a thread that may block.
struct ArtifactsChecked {
  uint64_t seq = 0;
  absl::Status status;
  std::shared_ptr<const linkw::StrategyRegister> strategy;
  std::shared_ptr<const void> files;
};

// The file that a call names was copied into memory, or why not: `name` is what the engine opens
// while `held` is held. From a thread that may block.
struct FileCopied {
  uint64_t seq = 0;
  absl::Status status;
  std::string name;
  std::shared_ptr<const void> held;
};

// Refuse new work, cancel at once what is in `scope`, let the rest finish for `patience`, cancel
// what remains, then end the link. A drain that is under way keeps its deadline if that is earlier,
// and what it has counted. From Supervisor, when the worker is shut down.
struct DrainLink {
  DrainScope scope = DrainScope::kNothing;
  absl::Duration patience;
  // What other links' drains came to; for the link that asked for the worker's end.
  uint32_t finished_elsewhere = 0;
  uint32_t cancelled_elsewhere = 0;
};

// The drain with number `drain` has run out of patience. To itself.
struct DrainOverdue {
  uint64_t drain = 0;
};

// The peer's HELLO has taken too long. To itself.
struct HelloOverdue {};

// Time for the counters that this peer asked for. To itself.
struct SendTelemetry {};

// The engine is loaded: who waits may be served. From Supervisor, to each link that came before.
struct EngineReady {
  std::shared_ptr<const LoadedEngine> engine;
};

// Tell the peer why and end the link. From Supervisor, when the worker cannot go on.
struct EndLink {
  linkw::Status status = linkw::Status::kOk;
  std::string reason;
};

// The hub of one link. See dispatcher.h.
using Dispatcher =
    compat::Handle<caf::result<void>(FrameReceived), caf::result<void>(FrameDecoded),
                   caf::result<void>(ReadingEnded), caf::result<void>(WritingFailed),
                   caf::result<void>(DescriptorReceived), caf::result<void>(DescriptorsEnded),
                   caf::result<void>(DescriptorChannelOpened), caf::result<void>(DescriptorOverdue),
                   caf::result<void>(DeadlineReached), caf::result<void>(RequestFinished),
                   caf::result<void>(CallDone), caf::result<void>(BufferAllocated),
                   caf::result<void>(BufferAttached), caf::result<void>(BufferLent),
                   caf::result<void>(ArtifactsChecked), caf::result<void>(FileCopied),
                   caf::result<void>(RepliesWritten), caf::result<void>(DrainLink),
                   caf::result<void>(DrainOverdue), caf::result<void>(HelloOverdue),
                   caf::result<void>(SendTelemetry), caf::result<void>(EndLink),
                   caf::result<void>(EngineReady)>;

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_MESSAGES_DISPATCHER_INTERFACE_H_
