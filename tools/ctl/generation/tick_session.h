#ifndef SUPERFLUID_TOOLS_CTL_GENERATION_TICK_SESSION_H_
#define SUPERFLUID_TOOLS_CTL_GENERATION_TICK_SESSION_H_

#include <memory>
#include <variant>

#include "protocol/client/link_client.h"
#include "protocol/driver/driver_rings.h"
#include "tools/ctl/base/command.h"
#include "tools/ctl/base/failure.h"
#include "tools/ctl/generation/prompt.h"

namespace superfluid::ctl {

// A driver's link with all that ticks need.
struct TickSession {
  std::unique_ptr<linkw::LinkClient> client;
  std::unique_ptr<linkw::DriverRings> rings;
};

// Connects, holds the prompt and the number of lanes against what the worker says, and attaches the
// rings. Failure: see Connect and CheckPromptFor; what the worker answers to the rings.
std::variant<TickSession, Failure> OpenTickSession(const GlobalOptions& global,
                                                   const Prompt& prompt, size_t lanes);

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_GENERATION_TICK_SESSION_H_
