#include "tools/ctl/base/descriptor_name.h"

#include <fcntl.h>
#include <unistd.h>

#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"

namespace superfluid::ctl {
namespace {

// What a process is started with is numbered from 0 on.
constexpr int kDescriptorsLookedAt = 256;

bool IsFile(int fd, const struct stat& file) {
  struct stat open_file = {};
  return fstat(fd, &open_file) == 0 && open_file.st_dev == file.st_dev &&
         open_file.st_ino == file.st_ino;
}

}  // namespace

std::optional<int> DescriptorNamed(std::string_view path) {
  if (path == "/dev/stdin") return STDIN_FILENO;
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (path.substr(0, folder.size()) != folder) continue;
    const std::string_view digits = path.substr(folder.size());
    int number = 0;
    if (digits.find_first_not_of("0123456789") == std::string_view::npos &&
        absl::SimpleAtoi(absl::string_view(digits.data(), digits.size()), &number)) {
      return number;
    }
  }
  return std::nullopt;
}

std::optional<int> DescriptorWriting(const struct stat& file) {
  for (int fd = 0; fd < kDescriptorsLookedAt; ++fd) {
    if (IsWritable(fd) && IsFile(fd, file)) return fd;
  }
  return std::nullopt;
}

bool IsWritable(int fd) {
  const int flags = fcntl(fd, F_GETFL);
  if (flags < 0 || (flags & O_PATH) != 0) return false;
  const int mode = flags & O_ACCMODE;
  return mode == O_WRONLY || mode == O_RDWR;
}

}  // namespace superfluid::ctl
