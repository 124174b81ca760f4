#ifndef SUPERFLUID_TOOLS_CTL_COMMANDS_SNAPSHOT_COMMAND_H_
#define SUPERFLUID_TOOLS_CTL_COMMANDS_SNAPSHOT_COMMAND_H_

#include "tools/ctl/base/command.h"

namespace superfluid::ctl {

// `snapshot`: feeds a prompt and saves the sequence's state to a file.
CommandBody DefineSnapshot(CLI::App& app);

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_COMMANDS_SNAPSHOT_COMMAND_H_
