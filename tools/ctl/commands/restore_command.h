#ifndef SUPERFLUID_TOOLS_CTL_COMMANDS_RESTORE_COMMAND_H_
#define SUPERFLUID_TOOLS_CTL_COMMANDS_RESTORE_COMMAND_H_

#include "tools/ctl/base/command.h"

namespace superfluid::ctl {

// `restore`: puts a saved state into a new sequence and goes on.
CommandBody DefineRestore(CLI::App& app);

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_COMMANDS_RESTORE_COMMAND_H_
