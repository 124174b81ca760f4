#ifndef SUPERFLUID_SHM_MEMORY_FD_CHANNEL_H_
#define SUPERFLUID_SHM_MEMORY_FD_CHANNEL_H_

#include <cstddef>
#include <memory>
#include <utility>

#include "shm/fd_channel.h"

namespace superfluid {

// Two connected FdChannels without a socket, for tests and simulation. Each direction holds at most
// `capacity` descriptors (duplicates of those sent); a Send beyond that is kWouldBlock. What was
// sent before a Shutdown of the sender can still be received by the other end.
std::pair<std::unique_ptr<FdChannel>, std::unique_ptr<FdChannel>> MakeMemoryFdChannelPair(
    size_t capacity = 64);

}  // namespace superfluid

#endif  // SUPERFLUID_SHM_MEMORY_FD_CHANNEL_H_
