#ifndef SUPERFLUID_PROTOCOL_TRANSPORT_UNIX_CONNECT_H_
#define SUPERFLUID_PROTOCOL_TRANSPORT_UNIX_CONNECT_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "shm/owned_fd.h"

namespace superfluid {

// Connects to the Unix stream socket at `path`; the result is non-blocking and close-on-exec.
// Waits at most `timeout` for a worker that is too busy to take us. The texts are for people.
// Errors: InvalidArgument (bad path, not a socket, a socket of another kind), NotFound (no such
// file), Unavailable (a socket, but no worker is listening on it), PermissionDenied,
// DeadlineExceeded, Internal (anything else that the system said).
absl::StatusOr<OwnedFd> ConnectUnix(std::string_view path, absl::Duration timeout);

}  // namespace superfluid

#endif  // SUPERFLUID_PROTOCOL_TRANSPORT_UNIX_CONNECT_H_
