#ifndef SUPERFLUID_TOOLS_CTL_COMMANDS_TOP_TEXT_H_
#define SUPERFLUID_TOOLS_CTL_COMMANDS_TOP_TEXT_H_

#include <string>
#include <vector>

#include "tools/ctl/commands/top_sample.h"
#include "tools/ctl/formats/json_text.h"

// What `top` shows, for a terminal, for a log and for programs. Pure functions; a figure that the
// worker does not say is "-" (and null in JSON), but for how long it runs and who drives it, which
// is left out then.
namespace superfluid::ctl {

// The rows that an engine has something to say in.
struct TopRows {
  bool ticks = true;
  bool state_ops = true;
  bool speech = true;
};

// Returns the rows of the calls that the worker lists; all if it lists none.
TopRows RowsOf(const linkw::HelloAck& hello);

// Returns what to call the worker: its socket, its engine and that one's model.
std::string TopTitle(const std::string& socket_path, const linkw::HelloAck& hello);

// The lines of the live view, without line breaks. A stalled engine is in capitals, and has a line
// of its own.
std::vector<std::string> TopView(const std::string& title, const TopRows& rows,
                                 const TopFigures& figures);

// One line, with its line break.
std::string TopLine(const TopFigures& figures);

Json TopJson(const TopFigures& figures);

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_COMMANDS_TOP_TEXT_H_
