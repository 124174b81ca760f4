#ifndef SUPERFLUID_PROTOCOL_TRANSPORT_SOCKET_STREAM_H_
#define SUPERFLUID_PROTOCOL_TRANSPORT_SOCKET_STREAM_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "protocol/transport/byte_stream.h"
#include "shm/fd_watch.h"
#include "shm/owned_fd.h"

namespace superfluid {

// A ByteStream over a connected stream socket (Unix, or any that shutdown(2) wakes), which it takes
// over, makes non-blocking and marks close-on-exec. A peer that vanishes never raises SIGPIPE.
// `received` is what was read of it already: Read gives these bytes first. `watch`, of this socket,
// does the waiting (see ByteStream); the stream stops it before it closes the socket.
// InvalidArgument if `socket` is not a connected stream socket.
absl::StatusOr<std::unique_ptr<ByteStream>> MakeSocketStream(OwnedFd socket,
                                                             std::string received = {},
                                                             SharedFdWatch watch = nullptr);

}  // namespace superfluid

#endif  // SUPERFLUID_PROTOCOL_TRANSPORT_SOCKET_STREAM_H_
