#ifndef SUPERFLUID_SHM_SOCKET_UTIL_H_
#define SUPERFLUID_SHM_SOCKET_UTIL_H_

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace superfluid {

// What the socket kinds of FdChannel and ByteStream have in common.

// Makes `fd` non-blocking and close-on-exec. InvalidArgument if it is not a connected stream
// socket: shutdown(2), on which waking a reader rests, works on no other kind.
absl::Status PrepareStreamSocket(int fd);

// Blocks until poll(2) reports one of `events`, an error or a hang-up for `socket`, or until
// `patience` (absl::InfiniteDuration() is fine) is over. Signals do not end it. If poll itself
// fails it returns too: the next read or write will say why.
void WaitForSocket(int socket, short events, absl::Duration patience);

}  // namespace superfluid

#endif  // SUPERFLUID_SHM_SOCKET_UTIL_H_
