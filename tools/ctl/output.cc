#include "tools/ctl/output.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

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

absl::Status WriteAll(int fd, std::string_view text, const std::string& name) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<size_t>(written));
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

}  // namespace

absl::Status FdOutput::Write(std::string_view text) { return WriteAll(fd_, text, "the output"); }

FileOutput::FileOutput(std::string path, OwnedFd fd) : path_(std::move(path)), fd_(std::move(fd)) {}

absl::StatusOr<FileOutput> FileOutput::Create(const std::string& path) {
  OwnedFd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!fd.valid()) return SystemError(absl::StrCat("cannot write ", path), errno);
  return FileOutput(path, std::move(fd));
}

absl::Status FileOutput::Write(std::string_view text) { return WriteAll(fd_.get(), text, path_); }

}  // namespace superfluid::ctl
