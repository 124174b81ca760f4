#ifndef SUPERFLUID_TOOLS_CTL_COMMANDS_PING_COMMAND_H_
#define SUPERFLUID_TOOLS_CTL_COMMANDS_PING_COMMAND_H_

#include "tools/ctl/base/command.h"

namespace superfluid::ctl {

// `ping`: asks the worker how it is, once or again and again. kFailed if its engine is broken.
CommandBody DefinePing(CLI::App& app);

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_COMMANDS_PING_COMMAND_H_
