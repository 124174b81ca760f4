#ifndef SUPERFLUID_TOOLS_CTL_COMMANDS_METRICS_COMMAND_H_
#define SUPERFLUID_TOOLS_CTL_COMMANDS_METRICS_COMMAND_H_

#include "tools/ctl/base/command.h"

namespace superfluid::ctl {

// `metrics`: the worker's figures for a monitoring system.
CommandBody DefineMetrics(CLI::App& app);

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_COMMANDS_METRICS_COMMAND_H_
