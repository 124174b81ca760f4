#ifndef SUPERFLUID_TOOLS_CTL_COMMANDS_TOP_COMMAND_H_
#define SUPERFLUID_TOOLS_CTL_COMMANDS_TOP_COMMAND_H_

#include "tools/ctl/base/command.h"

namespace superfluid::ctl {

// `top`: a live view of what the worker does.
CommandBody DefineTop(CLI::App& app);

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_COMMANDS_TOP_COMMAND_H_
