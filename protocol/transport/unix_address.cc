#include "protocol/transport/unix_address.h"

#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace superfluid {
namespace {

constexpr size_t kMaxBytes = sizeof(sockaddr_un::sun_path) - 1;

}  // namespace

absl::StatusOr<UnixAddress> MakeUnixAddress(std::string_view path) {
  UnixAddress result;
  if (path.empty() || path.find('\0') != std::string_view::npos) {
    return absl::InvalidArgumentError("a socket's path must not be empty nor hold a NUL");
  }
  if (path.size() > kMaxBytes) {
    return absl::InvalidArgumentError(absl::StrCat("the socket's path has ", path.size(),
                                                   " bytes; the system allows ", kMaxBytes));
  }
  result.address.sun_family = AF_UNIX;
  std::memcpy(result.address.sun_path, path.data(), path.size());
  return result;
}

}  // namespace superfluid
