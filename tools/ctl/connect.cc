#include "tools/ctl/connect.h"

#include <sys/un.h>

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "tools/version.h"

namespace superfluid::ctl {
namespace {

constexpr size_t kMaxSocketPath = sizeof(sockaddr_un::sun_path) - 1;

linkw::LinkClientOptions ClientOptions(const GlobalOptions& options, linkw::Role role) {
  linkw::LinkClientOptions client;
  client.role = role;
  client.client_name = absl::StrCat("superfluidctl ", kSuperfluidVersion);
  client.connect_timeout = options.timeout;
  client.call_timeout = options.timeout;
  client.wait_for_listener = options.wait;
  return client;
}

}  // namespace

ConnectResult Connect(const GlobalOptions& options, linkw::Role role) {
  if (options.socket_path.empty()) {
    return UsageFailure("no worker is named: give --connect PATH or set SUPERFLUID_SOCKET");
  }
  if (options.socket_path.size() > kMaxSocketPath) {
    return UsageFailure(absl::StrCat("the path of a socket has at most ", kMaxSocketPath,
                                     " bytes: ", options.socket_path));
  }
  absl::StatusOr<std::unique_ptr<linkw::LinkClient>> client =
      linkw::LinkClient::Connect(options.socket_path, ClientOptions(options, role));
  if (!client.ok()) return ConnectFailure(client.status(), options.socket_path);
  return *std::move(client);
}

}  // namespace superfluid::ctl
