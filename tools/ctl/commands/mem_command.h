#ifndef SUPERFLUID_TOOLS_CTL_COMMANDS_MEM_COMMAND_H_
#define SUPERFLUID_TOOLS_CTL_COMMANDS_MEM_COMMAND_H_

#include "tools/ctl/base/command.h"

namespace superfluid::ctl {

// `mem`: prints the memory counters.
CommandBody DefineMem(CLI::App& app);

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_COMMANDS_MEM_COMMAND_H_
