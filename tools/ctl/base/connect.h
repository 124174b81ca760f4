#ifndef SUPERFLUID_TOOLS_CTL_BASE_CONNECT_H_
#define SUPERFLUID_TOOLS_CTL_BASE_CONNECT_H_

#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "protocol/client/link_client.h"
#include "tools/ctl/base/command.h"
#include "tools/ctl/base/failure.h"

namespace superfluid::ctl {

using ConnectResult = std::variant<std::unique_ptr<linkw::LinkClient>, Failure>;

// Connects to the worker that the global options name. An observer may look on while another client
// drives the worker. With GlobalOptions::wait a worker that does not listen yet, that has no room
// or drains, or that another client drives, is tried again until the timeout. Failure: kUsage if no
// worker is named, else the last refusal, see ConnectFailure. A worker that still loads its engine
// is waited for longer than that: until it has, or is gone.
ConnectResult Connect(const GlobalOptions& options, linkw::Role role);

// An observer that pings only: without GlobalOptions::wait a worker that still loads is connected
// to, as it is.
ConnectResult ConnectToPing(const GlobalOptions& options);

// An observer that also wants what the worker sends unasked: see LinkClientOptions.
ConnectResult ConnectObserver(const GlobalOptions& options, std::vector<std::string> features,
                              std::function<void(const linkw::WorkerMessage&)> on_unsolicited);

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_BASE_CONNECT_H_
