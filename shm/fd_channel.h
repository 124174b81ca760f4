#ifndef SUPERFLUID_SHM_FD_CHANNEL_H_
#define SUPERFLUID_SHM_FD_CHANNEL_H_

#include <cstdint>
#include <functional>

#include "absl/status/statusor.h"
#include "shm/fd_passing.h"
#include "shm/io_state.h"

namespace superfluid {

// A link's second channel, which carries descriptors: a socket in a real worker, a queue in memory
// under the deterministic scheduler. The sibling of ByteStream (protocol/transport).
//
// Threads: one thread receives, one (perhaps another) sends, any may call Shutdown.
// Lifetime: must outlive its callbacks' last call; destroying it drops a callback not yet called.
class FdChannel {
 public:
  virtual ~FdChannel() = default;

  // The next descriptor, if there is one. Never blocks. Errors as TaggedFdReceiver::Receive; the
  // channel is then of no further use. kClosed after Shutdown, even if descriptors wait.
  virtual absl::StatusOr<FdReceiveResult> Receive() = 0;

  // Sends a duplicate of `fd` under `tag`; `fd` stays the caller's. Never blocks. Results and
  // errors as SendTaggedFd.
  virtual absl::StatusOr<IoState> Send(uint64_t tag, int fd) = 0;

  // Calls `ready` once, when Receive has something to say (a descriptor, an error, the end).
  // A socket with a watch returns at once, and the watch's thread calls `ready`; one without blocks
  // the calling thread until then and calls `ready` on it. In memory it returns at once, and the
  // thread that sends or shuts down calls `ready`; at once if it is due already. A second call
  // replaces a callback that still waits.
  virtual void WhenReadable(std::function<void()> ready) = 0;

  // Ends both directions and wakes whoever waits in WhenReadable. Any thread, any number of times.
  virtual void Shutdown() = 0;
};

}  // namespace superfluid

#endif  // SUPERFLUID_SHM_FD_CHANNEL_H_
