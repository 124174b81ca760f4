#ifndef SUPERFLUID_ACTORS_MESSAGES_SUPERVISOR_INTERFACE_H_
#define SUPERFLUID_ACTORS_MESSAGES_SUPERVISOR_INTERFACE_H_

#include <sys/types.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "actors/messages/drain_scope.h"
#include "actors/messages/ids.h"
#include "actors/messages/type_ids.h"
#include "actors/runtime/caf_compat.h"
#include "actors/runtime/socket_watch.h"
#include "protocol/messages/messages.h"
#include "protocol/transport/byte_stream.h"
#include "shm/fd_channel.h"

namespace superfluid {

// Load the engine. From main, first. Answered when it is loaded; links may come before, and wait.
// Errors: why the engine did not load.
struct StartWorker {};
struct WorkerStarted {};

// The hash of library, model and options, or why there is none. From a thread that may block.
struct BundleHashed {
  absl::StatusOr<linkw::Hash> hash;
};

// A peer connected and sent a frame's first bytes. From the listener's thread, or from main for
// inherited sockets (then with `descriptors`).
struct FramesConnected {
  std::shared_ptr<ByteStream> stream;
  std::shared_ptr<SocketWatch> watch;      // of the stream's socket; null: it is in memory
  std::shared_ptr<FdChannel> descriptors;  // may be null: comes later, with the link's token
  bool inherited = false;                  // main's own sockets: the only link there will be
  pid_t peer_pid = 0;                      // of who connected; 0: not known
};

// A peer connected and sent 16 bytes that may be a link's token. From the listener's thread.
struct DescriptorsConnected {
  linkw::LinkToken token{};
  std::shared_ptr<FdChannel> channel;
};

// May this link drive the worker, or observe it? From Dispatcher, on HELLO, once the engine is
// loaded. If another link drives
// the worker, the answer to a second driver waits for a moment, since that link may be about to end
// (a daemon that was restarted), and as long as the engine still cleans up after it.
struct ClaimRole {
  LinkId link{};
  linkw::Role role{};
};
struct RoleClaimed {
  absl::Status status;  // OK, or why not: BUSY
};

// The claim of this link has waited long enough. To itself.
struct ClaimOverdue {
  LinkId link{};
};

// The link is over; its jobs are being ended. From Dispatcher.
struct LinkEnding {
  LinkId link{};
};

// The link is over and the engine holds nothing of it any more. From Dispatcher, last.
struct LinkEnded {
  LinkId link{};
  std::string reason;
  uint32_t finished = 0;   // requests that ended by themselves during its last drain
  uint32_t cancelled = 0;  // that were cancelled
  bool cut = false;        // some of them by the drain itself
};

// Look at the engine's progress. To itself, periodically.
struct CheckHealth {};

// End the worker: no new links; cancel at once what is in `scope`, let the rest finish for
// `patience`, then exit. From main, on a signal, or from a Dispatcher whose peer asks for it
// (`asked_by`): that link is drained last, when it can be told how the others went. A second one
// may shorten the first and cancel more, never prolong it.
struct ShutDown {
  DrainScope scope = DrainScope::kNothing;
  absl::Duration patience;
  LinkId asked_by{};  // 0: none
};

// Starts, watches and ends everything else. See supervisor.h.
using Supervisor =
    compat::Handle<caf::result<WorkerStarted>(StartWorker), caf::result<void>(BundleHashed),
                   caf::result<void>(FramesConnected), caf::result<void>(DescriptorsConnected),
                   caf::result<RoleClaimed>(ClaimRole), caf::result<void>(ClaimOverdue),
                   caf::result<void>(LinkEnding), caf::result<void>(LinkEnded),
                   caf::result<void>(CheckHealth), caf::result<void>(ShutDown)>;

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_MESSAGES_SUPERVISOR_INTERFACE_H_
