#ifndef SUPERFLUID_TOOLS_WORKER_WORKER_SOCKETS_H_
#define SUPERFLUID_TOOLS_WORKER_WORKER_SOCKETS_H_

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "actors/link/connection_sorter.h"
#include "actors/messages/supervisor_interface.h"
#include "actors/runtime/descriptor_poller.h"
#include "protocol/transport/unix_listener.h"
#include "shm/fd_channel.h"
#include "shm/owned_fd.h"
#include "tools/worker/worker_options.h"

namespace superfluid {

// What the worker listens with or was given; exactly one of the two.
struct Sockets {
  std::unique_ptr<UnixListener> listener;
  std::optional<FramesConnected> inherited;
};

// Opens the sockets that the options name. Errors: those of UnixListener; InvalidArgument (a
// descriptor is no such socket).
absl::StatusOr<Sockets> OpenSockets(const WorkerOptions& options, DescriptorPoller& poller);

// Makes a link's frames socket of a connection of which `received` was read, or an error of the
// system.
absl::StatusOr<FramesConnected> WatchFrames(DescriptorPoller& poller, OwnedFd socket,
                                            std::string received);

// The same for a link's second socket.
absl::StatusOr<std::unique_ptr<FdChannel>> WatchDescriptors(DescriptorPoller& poller,
                                                            OwnedFd socket);

// Returns who may connect: the worker's own user and those of --allow-uid; or, without such, all
// that the mode of the socket's file lets in, if somebody has chosen one. Of a service manager's
// socket 0666 is its default, and so nobody's choice. `mode`: that of the listener.
ConnectionSorter::Options WhoMayConnect(const WorkerOptions& options, mode_t mode);

}  // namespace superfluid

#endif  // SUPERFLUID_TOOLS_WORKER_WORKER_SOCKETS_H_
