#ifndef SUPERFLUID_SHM_SOCKET_FD_CHANNEL_H_
#define SUPERFLUID_SHM_SOCKET_FD_CHANNEL_H_

#include <memory>

#include "absl/status/statusor.h"
#include "shm/fd_channel.h"
#include "shm/fd_watch.h"
#include "shm/owned_fd.h"

namespace superfluid {

// An FdChannel over a connected Unix stream socket, which it takes over, makes non-blocking and
// marks close-on-exec. InvalidArgument if `socket` is anything else.
absl::StatusOr<std::unique_ptr<FdChannel>> MakeSocketFdChannel(OwnedFd socket,
                                                               SharedFdWatch watch = nullptr);

}  // namespace superfluid

#endif  // SUPERFLUID_SHM_SOCKET_FD_CHANNEL_H_
