#include "tools/ctl/terminal/live_screen.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "tools/ctl/formats/plain_text.h"

namespace superfluid::ctl {
namespace {

constexpr char kHideCursor[] = "\x1b[?25l";
constexpr char kShowCursor[] = "\x1b[?25h";
constexpr char kEraseToLineEnd[] = "\x1b[K";
constexpr char kEraseBelow[] = "\x1b[J";
constexpr char kEraseAll[] = "\x1b[H\x1b[2J";
constexpr winsize kUsualSize = {.ws_row = 24, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};

winsize SizeOf(int fd) {
  winsize size = {};
  if (fd < 0 || ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col < 2 || size.ws_row < 2) {
    return kUsualSize;
  }
  return size;
}

// Where the gap between two cells begins that is the last one before `columns`; npos: nowhere.
size_t LastGap(const std::string& line, size_t columns) {
  size_t gap = line.rfind("  ", columns);
  while (gap != std::string::npos && gap > 0 && line[gap - 1] == ' ') --gap;
  return gap;
}

void AppendBroken(std::string line, size_t columns, std::vector<std::string>* lines) {
  const size_t indent = line.find_first_not_of(' ', std::min(line.find("  "), line.size()));
  while (ColumnsOf(line) > columns) {
    const size_t gap = LastGap(line, columns);
    const size_t next = gap == std::string::npos ? gap : line.find_first_not_of(' ', gap);
    if (next == std::string::npos || gap <= indent) break;
    lines->push_back(line.substr(0, gap));
    line = std::string(indent, ' ') + line.substr(next);
  }
  lines->push_back(FirstColumns(line, columns));
}

}  // namespace

std::vector<std::string> FitLines(const std::vector<std::string>& lines, size_t rows,
                                  size_t columns) {
  std::vector<std::string> fitting;
  for (const std::string& line : lines) AppendBroken(line, columns, &fitting);
  while (fitting.size() > rows) {
    const auto empty = std::find(fitting.rbegin(), fitting.rend(), "");
    if (empty == fitting.rend()) {
      fitting.resize(rows);
    } else {
      fitting.erase(std::next(empty).base());
    }
  }
  return fitting;
}

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
  // A terminal of another size has moved, cut or doubled what was drawn.
  const bool resized = drawn_ > 0 && (size.ws_row != size_.ws_row || size.ws_col != size_.ws_col);
  if (resized) {
    absl::StrAppend(&text, kEraseAll);
  } else if (drawn_ > 0) {
    absl::StrAppend(&text, "\r\x1b[", drawn_, "A");
  }
  size_ = size;
  // Text in the last column, or a line break in the last row, would make the terminal scroll.
  const std::vector<std::string> fitting = FitLines(lines, size.ws_row - 1U, size.ws_col - 1U);
  for (const std::string& line : fitting) {
    absl::StrAppend(&text, line, kEraseToLineEnd, "\r\n");
  }
  text += kEraseBelow;
  drawn_ = fitting.size();
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
