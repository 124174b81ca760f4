#ifndef SUPERFLUID_TOOLS_CTL_COMMANDS_GENERATE_COMMAND_H_
#define SUPERFLUID_TOOLS_CTL_COMMANDS_GENERATE_COMMAND_H_

#include "tools/ctl/base/command.h"

namespace superfluid::ctl {

// `generate`: draws tokens after a prompt, in one lane or several.
CommandBody DefineGenerate(CLI::App& app);

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_COMMANDS_GENERATE_COMMAND_H_
