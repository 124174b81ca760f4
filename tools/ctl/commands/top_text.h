#ifndef SUPERFLUID_TOOLS_CTL_COMMANDS_TOP_TEXT_H_
#define SUPERFLUID_TOOLS_CTL_COMMANDS_TOP_TEXT_H_

#include <string>
#include <vector>

#include "tools/ctl/commands/top_sample.h"
#include "tools/ctl/formats/json_text.h"

// What `top` shows, for a terminal, for a log and for programs. Pure functions; what the worker
// does not say is "-" (and null in JSON).
namespace superfluid::ctl {

// The lines of the live view, without line breaks. `title`: which worker.
std::vector<std::string> TopView(const std::string& title, const TopFigures& figures);

// One line, with its line break.
std::string TopLine(const TopFigures& figures);

Json TopJson(const TopFigures& figures);

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_COMMANDS_TOP_TEXT_H_
