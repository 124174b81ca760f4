#ifndef SUPERFLUID_TOOLS_CTL_COMMANDS_TRANSCRIBE_COMMAND_H_
#define SUPERFLUID_TOOLS_CTL_COMMANDS_TRANSCRIBE_COMMAND_H_

#include "tools/ctl/base/command.h"

namespace superfluid::ctl {

// `transcribe FILE`: turns speech into text, as it is decoded. Ctrl-C cancels it.
CommandBody DefineTranscribe(CLI::App& app);

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_COMMANDS_TRANSCRIBE_COMMAND_H_
