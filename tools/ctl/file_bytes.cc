#include "tools/ctl/file_bytes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace superfluid::ctl {
namespace {

constexpr char kSegmentName[] = "superfluidctl-audio";
constexpr uint64_t kFirstBytes = uint64_t{1} << 20;  // of a pipe, whose length nobody knows

absl::Status ReadError(const std::string& name) {
  return absl::InternalError(
      absl::ErrnoToStatus(errno, absl::StrCat("cannot read ", name)).message());
}

// Fills `segment` from `offset` on. Returns where it ended: at its end, or at the end of the file.
absl::StatusOr<uint64_t> Fill(int fd, const std::string& name, const Segment& segment,
                              uint64_t offset) {
  while (offset < segment.size()) {
    const ssize_t got = read(fd, segment.data() + offset, segment.size() - offset);
    if (got == 0) break;
    if (got > 0) {
      offset += static_cast<uint64_t>(got);
    } else if (errno != EINTR) {
      return ReadError(name);
    }
  }
  return offset;
}

// What to reserve at first: a byte more than a file has, to see its end.
uint64_t FirstSize(int fd) {
  struct stat file = {};
  if (fstat(fd, &file) != 0 || !S_ISREG(file.st_mode)) return kFirstBytes;
  return static_cast<uint64_t>(std::max<off_t>(file.st_size, 0)) + 1;
}

absl::StatusOr<Segment> Larger(const Segment& segment) {
  absl::StatusOr<Segment> larger = Segment::Create(segment.size() * 2, kSegmentName);
  if (larger.ok()) std::memcpy(larger->data(), segment.data(), segment.size());
  return larger;
}

}  // namespace

absl::StatusOr<OwnedFd> OpenInput(const std::string& file, int in_fd) {
  const bool standard_input = file == "-";
  OwnedFd fd(standard_input ? fcntl(in_fd, F_DUPFD_CLOEXEC, 0)
                            : open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return ReadError(standard_input ? "standard input" : file);
  return fd;
}

bool IsSameFile(const std::string& output, const std::string& file, int in_fd) {
  struct stat written = {};
  struct stat read = {};
  if (stat(output.c_str(), &written) != 0 || !S_ISREG(written.st_mode)) return false;
  const int found = file == "-" ? fstat(in_fd, &read) : stat(file.c_str(), &read);
  return found == 0 && written.st_dev == read.st_dev && written.st_ino == read.st_ino;
}

absl::StatusOr<SharedBytes> ReadIntoSharedMemory(int fd, const std::string& name) {
  absl::StatusOr<Segment> segment = Segment::Create(FirstSize(fd), kSegmentName);
  if (!segment.ok()) return segment.status();
  uint64_t length = 0;
  while (true) {
    const absl::StatusOr<uint64_t> filled = Fill(fd, name, *segment, length);
    if (!filled.ok()) return filled.status();
    length = *filled;
    if (length < segment->size()) break;
    segment = Larger(*segment);
    if (!segment.ok()) return segment.status();
  }
  if (length == 0) return absl::InvalidArgumentError(absl::StrCat(name, " is empty"));
  return SharedBytes{.segment = *std::move(segment), .length = length};
}

}  // namespace superfluid::ctl
