#include "tools/bench/listen.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "protocol/transport/unix_address.h"

namespace superfluid::bench {

absl::StatusOr<OwnedFd> ListenBlocking(const std::string& path) {
  const absl::StatusOr<UnixAddress> address = MakeUnixAddress(path);
  if (!address.ok()) return address.status();
  OwnedFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (fd.get() < 0 || bind(fd.get(), address->get(), UnixAddress::size()) != 0 ||
      listen(fd.get(), SOMAXCONN) != 0) {
    return absl::InternalError(absl::StrCat("cannot listen: ", std::strerror(errno)));
  }
  return fd;
}

}  // namespace superfluid::bench
