#ifndef SUPERFLUID_TOOLS_CTL_TERMINAL_LIVE_SCREEN_H_
#define SUPERFLUID_TOOLS_CTL_TERMINAL_LIVE_SCREEN_H_

#include <sys/ioctl.h>
#include <termios.h>

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tools/ctl/base/output.h"

namespace superfluid::ctl {

// A few lines of a terminal that are redrawn in place, without a cursor; keys come one by one and
// are not echoed. What was drawn last stays on the screen.
//
// Restore (or the destructor) gives the terminal back as it was; after it nothing is drawn.
// Threads: Draw on one, Restore on any. Lifetime: `out` must outlive it, and `in_fd` stay open.
class LiveScreen {
 public:
  // `in_fd`: where keys come from; left alone if it is no terminal.
  LiveScreen(Output& out, int in_fd);
  LiveScreen(const LiveScreen&) = delete;
  LiveScreen& operator=(const LiveScreen&) = delete;
  ~LiveScreen() { Restore(); }

  // Draws `lines` as FitLines has them for this terminal. Errors: the output's.
  absl::Status Draw(const std::vector<std::string>& lines);

  void Restore();

 private:
  Output& out_;
  const int in_fd_;
  std::mutex mutex_;
  std::optional<termios> former_;  // guarded by mutex_
  size_t drawn_ = 0;               // guarded by mutex_; lines
  winsize size_ = {};              // guarded by mutex_; when they were drawn
  bool restored_ = false;          // guarded by mutex_
};

// Returns `lines` as they fit into a terminal. A line of cells with two spaces or more between them
// that is too long goes on below its second cell. If there are too many, empty ones go first, then
// the last ones. Pure.
std::vector<std::string> FitLines(const std::vector<std::string>& lines, size_t rows,
                                  size_t columns);

// Whether text that goes there can be drawn in place.
bool IsTerminal(int fd);

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_TERMINAL_LIVE_SCREEN_H_
