#include "tools/ctl/live_screen.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "tools/ctl/plain_text.h"

namespace superfluid::ctl {
namespace {

constexpr char kHideCursor[] = "\x1b[?25l";
constexpr char kShowCursor[] = "\x1b[?25h";
constexpr char kEraseToLineEnd[] = "\x1b[K";
constexpr char kEraseBelow[] = "\x1b[J";
constexpr winsize kUsualSize = {.ws_row = 24, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};

winsize SizeOf(int fd) {
  winsize size = {};
  if (fd < 0 || ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col < 2 || size.ws_row < 2) {
    return kUsualSize;
  }
  return size;
}

}  // namespace

bool IsTerminal(int fd) { return fd >= 0 && isatty(fd) != 0; }

LiveScreen::LiveScreen(Output& out, int in_fd) : out_(out), in_fd_(in_fd) {
  termios keys = {};
  if (!IsTerminal(in_fd) || tcgetattr(in_fd, &keys) != 0) return;
  former_ = keys;
  keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);  // Ctrl-C is still a signal
  keys.c_cc[VMIN] = 0;
  keys.c_cc[VTIME] = 0;
  tcsetattr(in_fd, TCSANOW, &keys);
}

absl::Status LiveScreen::Draw(const std::vector<std::string>& lines) {
  const winsize size = SizeOf(out_.fd());
  const std::lock_guard lock(mutex_);
  if (restored_) return absl::OkStatus();
  std::string text = kHideCursor;
  if (drawn_ > 0) absl::StrAppend(&text, "\r\x1b[", drawn_, "A");
  // Text in the last column, or a line break in the last row, would make the terminal scroll.
  const size_t count = std::min<size_t>(lines.size(), size.ws_row - 1U);
  for (size_t i = 0; i < count; ++i) {
    absl::StrAppend(&text, FirstColumns(lines[i], size.ws_col - 1U), kEraseToLineEnd, "\r\n");
  }
  text += kEraseBelow;
  drawn_ = count;
  return out_.Write(text);
}

void LiveScreen::Restore() {
  const std::lock_guard lock(mutex_);
  if (restored_) return;
  restored_ = true;
  if (former_.has_value()) tcsetattr(in_fd_, TCSANOW, &*former_);
  if (drawn_ > 0) out_.Write(kShowCursor).IgnoreError();
}

}  // namespace superfluid::ctl
