#ifndef SUPERFLUID_TOOLS_CTL_COMMAND_LINE_H_
#define SUPERFLUID_TOOLS_CTL_COMMAND_LINE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tools/ctl/base/command.h"
#include "tools/ctl/base/exit_code.h"

namespace superfluid::ctl {

// "2", "2.5" (seconds), "500ms", "1m": a positive time. InvalidArgument for anything else.
absl::StatusOr<absl::Duration> ParseTimeout(const std::string& text);

// All of superfluidctl: reads the command line (without the program's name) and runs its command.
// May block. The process must ignore SIGPIPE.
ExitCode RunCommandLine(const std::vector<std::string>& arguments, const Console& console);

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_COMMAND_LINE_H_
