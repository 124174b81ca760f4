#ifndef SUPERFLUID_TOOLS_CTL_TERMINAL_LOADING_LINE_H_
#define SUPERFLUID_TOOLS_CTL_TERMINAL_LOADING_LINE_H_

#include "protocol/messages/messages.h"
#include "tools/ctl/base/output.h"

namespace superfluid::ctl {

// Says that a worker still loads its engine: on a terminal how far it is, as the last line, redrawn
// in place and gone at the end; elsewhere once that it does. Write errors are ignored.
//
// Threads: one. Lifetime: both outputs must outlive it.
class LoadingLine {
 public:
  // `terminal`: where to draw; null: nowhere, and `text` gets a line.
  LoadingLine(Output* terminal, Output* text) : terminal_(terminal), text_(text) {}

  void Show(const linkw::Pong& pong);
  // Removes the line from the terminal.
  void Clear();

 private:
  Output* terminal_;
  Output* text_;
  bool shown_ = false;
};

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_TERMINAL_LOADING_LINE_H_
