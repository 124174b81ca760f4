#ifndef SUPERFLUID_TOOLS_CTL_CONNECT_H_
#define SUPERFLUID_TOOLS_CTL_CONNECT_H_

#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "protocol/link_client.h"
#include "tools/ctl/command.h"
#include "tools/ctl/failure.h"

namespace superfluid::ctl {

using ConnectResult = std::variant<std::unique_ptr<linkw::LinkClient>, Failure>;

// Connects to the worker that the global options name. An observer may look on while another client
// drives the worker; a driver with GlobalOptions::wait waits until it leaves. Failure: kUsage if no
// worker is named, else see ConnectFailure.
ConnectResult Connect(const GlobalOptions& options, linkw::Role role);

// An observer that also wants what the worker sends unasked: see LinkClientOptions.
ConnectResult ConnectObserver(const GlobalOptions& options, std::vector<std::string> features,
                              std::function<void(const linkw::WorkerMessage&)> on_unsolicited);

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_CONNECT_H_
