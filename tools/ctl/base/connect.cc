#include "tools/ctl/base/connect.h"

#include <sys/un.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "protocol/messages/deadline.h"
#include "protocol/messages/status.h"
#include "tools/version.h"

namespace superfluid::ctl {
namespace {

constexpr absl::Duration kFirstPause = absl::Milliseconds(50);
constexpr absl::Duration kLongestPause = absl::Milliseconds(500);
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

// The pauses between attempts. They grow, so that many who wait leave the worker in peace, and
// differ, so that those who began together do not come together again.
class Pauses {
 public:
  absl::Duration Next() {
    const absl::Duration pause = longest_ * std::uniform_real_distribution(0.5, 1.0)(random_);
    longest_ = std::min(longest_ * 1.5, kLongestPause);
    return pause;
  }

 private:
  absl::Duration longest_ = kFirstPause;
  std::minstd_rand random_{std::random_device()()};
};

// Whether a worker that refused, or was not there, may take us later.
bool MayPass(const absl::Status& status) {
  switch (linkw::FromAbsl(status)) {
    case linkw::Status::kBusy:        // as many links as it takes, another driver, nobody listens
    case linkw::Status::kNotFound:    // no socket yet
    case linkw::Status::kDraining:    // it ends, and another may start in its place
    case linkw::Status::kLinkClosed:  // it ended, or sent us away unheard
    case linkw::Status::kEngineFailed:
    case linkw::Status::kEngineStalled:
    case linkw::Status::kDeadlineExceeded:
      return true;
    default:
      return false;
  }
}

ConnectResult TryToConnect(const GlobalOptions& options, linkw::LinkClientOptions client_options) {
  if (options.socket_path.empty()) {
    return UsageFailure("no worker is named: give --connect PATH or set SUPERFLUID_SOCKET");
  }
  if (options.socket_path.size() > kMaxSocketPath) {
    return UsageFailure(absl::StrCat("the path of a socket has at most ", kMaxSocketPath,
                                     " bytes: ", options.socket_path));
  }
  auto give_up = linkw::Deadline::After(options.timeout);
  if (options.wait) {
    client_options.on_loading = [&give_up, &options](const linkw::Pong& pong) {
      give_up = linkw::Deadline::After(options.timeout);
      if (options.on_loading) options.on_loading(pong);
      return true;
    };
  }
  absl::Status refused;
  Pauses pauses;
  while (true) {
    absl::StatusOr<std::unique_ptr<linkw::LinkClient>> client =
        linkw::LinkClient::Connect(options.socket_path, client_options);
    if (client.ok()) return *std::move(client);
    // That the time is over says less than why we were refused before.
    if (refused.ok() || !absl::IsDeadlineExceeded(client.status())) refused = client.status();
    if (!options.wait || !MayPass(client.status()) || give_up.passed()) {
      return ConnectFailure(refused, options.socket_path);
    }
    absl::SleepFor(std::min(pauses.Next(), give_up.left()));  // nobody tells us when it is free
    client_options.connect_timeout = give_up.left();
  }
}

ConnectResult ConnectWith(const GlobalOptions& options, linkw::LinkClientOptions client_options) {
  ConnectResult result = TryToConnect(options, std::move(client_options));
  if (options.on_loading_over) options.on_loading_over();
  return result;
}

}  // namespace

ConnectResult ConnectToPing(const GlobalOptions& options) {
  linkw::LinkClientOptions client = ClientOptions(options, linkw::Role::kObserver);
  client.accept_loading = !options.wait;
  return ConnectWith(options, std::move(client));
}

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
