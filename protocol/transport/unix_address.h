#ifndef SUPERFLUID_PROTOCOL_TRANSPORT_UNIX_ADDRESS_H_
#define SUPERFLUID_PROTOCOL_TRANSPORT_UNIX_ADDRESS_H_

#include <sys/socket.h>
#include <sys/un.h>

#include <string_view>

#include "absl/status/statusor.h"

namespace superfluid {

// A socket's path in the form that bind and connect want.
struct UnixAddress {
  sockaddr_un address = {};

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
  static constexpr socklen_t size() { return sizeof(sockaddr_un); }
};

// InvalidArgument: empty, longer than 107 bytes, or a NUL inside (which also keeps out the abstract
// name space, where files have no mode).
absl::StatusOr<UnixAddress> MakeUnixAddress(std::string_view path);

}  // namespace superfluid

#endif  // SUPERFLUID_PROTOCOL_TRANSPORT_UNIX_ADDRESS_H_
