#ifndef SUPERFLUID_TOOLS_CTL_TERMINAL_PROGRESS_LINE_H_
#define SUPERFLUID_TOOLS_CTL_TERMINAL_PROGRESS_LINE_H_

#include "absl/time/time.h"
#include "tools/ctl/base/output.h"
#include "tools/ctl/terminal/progress_bar.h"

namespace superfluid::ctl {

// The progress bar as the last line of a terminal: redrawn in place, gone when it is not wanted.
// Does nothing if it was made without a terminal. Write errors are ignored: it is decoration.
//
// Threads: one. Lifetime: `terminal` must outlive it.
class ProgressLine {
 public:
  // `terminal`: where to draw; null: nowhere.
  explicit ProgressLine(Output* terminal) : terminal_(terminal) {}
  ~ProgressLine() { Clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  bool visible() const { return terminal_ != nullptr; }

  // Draws `progress`, as wide as the terminal is now.
  void Draw(const Progress& progress);

  // Removes the line, so that other text can be printed in its place.
  void Clear();

 private:
  Output* terminal_;
  bool drawn_ = false;
};

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_TERMINAL_PROGRESS_LINE_H_
