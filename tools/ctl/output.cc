#include "tools/ctl/output.h"

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

constexpr char kTemporaryName[] = ".superfluidctl-XXXXXX";
constexpr mode_t kPermissions = 0777;

std::string BehindLinks(const std::string& path) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  return error ? path : real.string();
}

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

// What open would give a new file.
mode_t UsualMode() {
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

}  // namespace

absl::Status FdOutput::Write(std::string_view text) { return WriteAll(fd_, text, "the output"); }

absl::StatusOr<FileOutput> FileOutput::Create(const std::string& path) {
  const std::string cannot = absl::StrCat("cannot write ", path);
  struct stat before = {};
  const bool exists = stat(path.c_str(), &before) == 0;
  if (exists && !S_ISREG(before.st_mode)) {
    OwnedFd fd(open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!fd.valid()) return SystemError(cannot, errno);
    return FileOutput(path, std::move(fd));
  }
  // A folder's owner may replace files that he may not write: not by us.
  if (exists && access(path.c_str(), W_OK) != 0) return SystemError(cannot, errno);
  const std::string target = exists ? BehindLinks(path) : path;
  std::string temporary = absl::StrCat(FolderOf(target), kTemporaryName);
  OwnedFd fd(mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd.valid()) return SystemError(cannot, errno);
  FileOutput file(path, std::move(fd));
  file.target_ = target;
  file.temporary_ = temporary;
  file.replaces_ = exists;
  const mode_t mode = exists ? before.st_mode & kPermissions : UsualMode();
  if (fchmod(file.fd(), mode) != 0) return SystemError(cannot, errno);
  return file;
}

FileOutput::FileOutput(FileOutput&& other) noexcept
    : path_(std::move(other.path_)),
      fd_(std::move(other.fd_)),
      target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, {})),
      replaces_(other.replaces_) {}

FileOutput::~FileOutput() {
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

absl::Status FdOutput::Write(std::string_view text) { return WriteAll(fd_, &text, "the output"); }

}  // namespace superfluid::ctl
