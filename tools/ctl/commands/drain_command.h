#ifndef SUPERFLUID_TOOLS_CTL_COMMANDS_DRAIN_COMMAND_H_
#define SUPERFLUID_TOOLS_CTL_COMMANDS_DRAIN_COMMAND_H_

#include "tools/ctl/base/command.h"

namespace superfluid::ctl {

// `drain`: has the worker finish its work and take no more.
CommandBody DefineDrain(CLI::App& app);

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_COMMANDS_DRAIN_COMMAND_H_
