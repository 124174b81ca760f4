#include "tools/ctl/base/output.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "absl/strings/str_cat.h"

namespace superfluid::ctl {
namespace {

absl::Status SystemError(const std::string& what, int error) {
  return absl::InternalError(absl::ErrnoToStatus(error, what).message());
}

// A descriptor that somebody else made non-blocking.
void WaitForRoom(int fd) {
  pollfd poll_fd = {.fd = fd, .events = POLLOUT, .revents = 0};
  poll(&poll_fd, 1, -1);
}

}  // namespace

absl::Status WriteAll(int fd, std::string_view* text, const std::string& name) {
  while (!text->empty()) {
    const ssize_t written = write(fd, text->data(), text->size());
    if (written >= 0) {
      text->remove_prefix(static_cast<size_t>(written));
    } else if (errno == EAGAIN) {
      WaitForRoom(fd);
    } else if (errno == EPIPE) {
      return absl::AbortedError(absl::StrCat("nobody reads ", name, " any more"));
    } else if (errno != EINTR) {
      return SystemError(absl::StrCat("cannot write ", name), errno);
    }
  }
  return absl::OkStatus();
}

bool CanRedraw(int fd) {
  if (fd < 0 || isatty(fd) == 0) return false;
  const char* terminal = std::getenv("TERM");
  return terminal == nullptr || std::string_view(terminal) != "dumb";
}

absl::Status FdOutput::Write(std::string_view text) { return WriteAll(fd_, &text, "the output"); }

}  // namespace superfluid::ctl
