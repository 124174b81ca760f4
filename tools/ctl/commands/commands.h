#ifndef SUPERFLUID_TOOLS_CTL_COMMANDS_COMMANDS_H_
#define SUPERFLUID_TOOLS_CTL_COMMANDS_COMMANDS_H_

#include "absl/types/span.h"
#include "tools/ctl/base/command.h"

namespace superfluid::ctl {

// Every command, in the order of `--help`.
absl::Span<const Command> Commands();

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_COMMANDS_COMMANDS_H_
