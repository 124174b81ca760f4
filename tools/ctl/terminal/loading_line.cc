#include "tools/ctl/terminal/loading_line.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace superfluid::ctl {

void LoadingLine::Show(const linkw::Pong& pong) {
  const bool first = !std::exchange(shown_, true);
  if (terminal_ != nullptr) {
    const std::string how_far =
        pong.load_permille == 0 ? "" : absl::StrCat(": ", pong.load_permille / 10, " %");
    terminal_->Write(absl::StrCat("\rthe worker loads its engine", how_far, "\x1b[K"))
        .IgnoreError();
  } else if (first) {
    text_->Write("superfluidctl: the worker still loads its engine; waiting\n").IgnoreError();
  }
}

void LoadingLine::Clear() {
  if (std::exchange(shown_, false) && terminal_ != nullptr) {
    terminal_->Write("\r\x1b[K").IgnoreError();
  }
}

}  // namespace superfluid::ctl
