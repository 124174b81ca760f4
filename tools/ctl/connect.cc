#include "tools/ctl/connect.h"

#include <sys/un.h>

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tools/ctl/monotonic.h"
#include "tools/version.h"

namespace superfluid::ctl {
namespace {

constexpr absl::Duration kTryAgain = absl::Milliseconds(50);
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

ConnectResult ConnectWith(const GlobalOptions& options, linkw::LinkClientOptions client_options) {
  if (options.socket_path.empty()) {
    return UsageFailure("no worker is named: give --connect PATH or set SUPERFLUID_SOCKET");
  }
  if (options.socket_path.size() > kMaxSocketPath) {
    return UsageFailure(absl::StrCat("the path of a socket has at most ", kMaxSocketPath,
                                     " bytes: ", options.socket_path));
  }
  const absl::Duration give_up = MonotonicNow() + options.timeout;
  absl::Status refused;  // the last word of a worker that was busy with another driver
  while (true) {
    absl::StatusOr<std::unique_ptr<linkw::LinkClient>> client =
        linkw::LinkClient::Connect(options.socket_path, client_options);
    if (client.ok()) return *std::move(client);
    if (IsAnotherDriver(client.status())) {
      refused = client.status();
    } else if (refused.ok() || !absl::IsDeadlineExceeded(client.status())) {
      return ConnectFailure(client.status(), options.socket_path);
    }
    client_options.connect_timeout = give_up - MonotonicNow() - kTryAgain;
    const bool over = client_options.connect_timeout <= absl::ZeroDuration();
    if (!options.wait || over) return ConnectFailure(refused, options.socket_path);
    absl::SleepFor(kTryAgain);  // nobody tells us when the other one leaves
  }
}

}  // namespace

ConnectResult Connect(const GlobalOptions& options, linkw::Role role) {
  return ConnectWith(options, ClientOptions(options, role));
}

ConnectResult ConnectObserver(const GlobalOptions& options, std::vector<std::string> features,
                              std::function<void(const linkw::WorkerMessage&)> on_unsolicited) {
  linkw::LinkClientOptions client = ClientOptions(options, linkw::Role::kObserver);
  client.features = std::move(features);
  client.on_unsolicited = std::move(on_unsolicited);
  return ConnectWith(options, std::move(client));
}

}  // namespace superfluid::ctl
