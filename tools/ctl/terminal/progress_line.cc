#include "tools/ctl/terminal/progress_line.h"

#include <sys/ioctl.h>

#include <cstddef>

#include "absl/strings/str_cat.h"

namespace superfluid::ctl {
namespace {

constexpr char kToLineStart[] = "\r";
constexpr char kEraseToLineEnd[] = "\x1b[K";
constexpr size_t kUsualColumns = 80;

size_t ColumnsOfTerminal(int fd) {
  winsize size = {};
  if (fd < 0 || ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kUsualColumns;
  return size.ws_col;
}

}  // namespace

void ProgressLine::Draw(const Progress& progress) {
  if (terminal_ == nullptr) return;
  // Text in the last column would make some terminals wrap.
  const size_t columns = ColumnsOfTerminal(terminal_->fd()) - 1;
  const std::string text =
      absl::StrCat(kToLineStart, RenderProgress(progress, columns), kEraseToLineEnd);
  drawn_ = true;
  terminal_->Write(text).IgnoreError();
}

void ProgressLine::Clear() {
  if (!drawn_) return;
  drawn_ = false;
  terminal_->Write(absl::StrCat(kToLineStart, kEraseToLineEnd)).IgnoreError();
}

}  // namespace superfluid::ctl
