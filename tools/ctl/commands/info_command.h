#ifndef SUPERFLUID_TOOLS_CTL_COMMANDS_INFO_COMMAND_H_
#define SUPERFLUID_TOOLS_CTL_COMMANDS_INFO_COMMAND_H_

#include "tools/ctl/base/command.h"

namespace superfluid::ctl {

// `info`: prints what the worker says about itself.
CommandBody DefineInfo(CLI::App& app);

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_COMMANDS_INFO_COMMAND_H_
