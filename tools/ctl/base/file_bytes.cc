#include "tools/ctl/base/file_bytes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/ctl/base/descriptor_name.h"
#include "tools/ctl/formats/unit_text.h"

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

// The length of a regular file; nullopt: nobody knows it.
std::optional<uint64_t> LengthOf(int fd) {
  struct stat file = {};
  if (fstat(fd, &file) != 0 || !S_ISREG(file.st_mode)) return std::nullopt;
  return static_cast<uint64_t>(std::max<off_t>(file.st_size, 0));
}

absl::Status Endless(const std::string& name, uint64_t bytes) {
  return absl::ResourceExhaustedError(
      absl::StrCat(name, " has more than ", BytesText(bytes),
                   " and no end in sight: give a file, or send PCM with --live"));
}

absl::StatusOr<Segment> Larger(const Segment& segment) {
  absl::StatusOr<Segment> larger = Segment::Create(segment.size() * 2, kSegmentName);
  if (larger.ok()) std::memcpy(larger->data(), segment.data(), segment.size());
  return larger;
}

}  // namespace

bool IsOursAlone(const std::string& file) {
  if (DescriptorNamed(file).has_value()) return true;
  struct stat found = {};
  return stat(file.c_str(), &found) == 0 && !S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode);
}

absl::StatusOr<OwnedFd> OpenInput(const std::string& file, int in_fd) {
  const int named = file == "-" ? STDIN_FILENO : DescriptorNamed(file).value_or(-1);
  OwnedFd fd(named < 0 ? open(file.c_str(), O_RDONLY | O_CLOEXEC)
                       : fcntl(named == STDIN_FILENO ? in_fd : named, F_DUPFD_CLOEXEC, 0));
  if (!fd.valid()) return ReadError(file == "-" ? "standard input" : file);
  return fd;
}

bool IsSameFile(const std::string& output, const std::string& file, int in_fd) {
  struct stat written = {};
  struct stat read = {};
  if (stat(output.c_str(), &written) != 0 || !S_ISREG(written.st_mode)) return false;
  const int found = file == "-" ? fstat(in_fd, &read) : stat(file.c_str(), &read);
  return found == 0 && written.st_dev == read.st_dev && written.st_ino == read.st_ino;
}

absl::StatusOr<SharedBytes> ReadIntoSharedMemory(int fd, const std::string& name,
                                                 std::string_view begin, uint64_t max_piped) {
  const std::optional<uint64_t> known = LengthOf(fd);
  // A byte more than a file has, to see its end.
  absl::StatusOr<Segment> segment =
      Segment::Create(begin.size() + (known.has_value() ? *known + 1 : kFirstBytes), kSegmentName);
  if (!segment.ok()) return segment.status();
  std::memcpy(segment->data(), begin.data(), begin.size());
  uint64_t length = begin.size();
  while (true) {
    const absl::StatusOr<uint64_t> filled = Fill(fd, name, *segment, length);
    if (!filled.ok()) return filled.status();
    length = *filled;
    if (length < segment->size()) break;
    if (!known.has_value() && length >= max_piped) return Endless(name, max_piped);
    segment = Larger(*segment);
    if (!segment.ok()) return segment.status();
  }
  if (length == 0) return absl::InvalidArgumentError(absl::StrCat(name, " is empty"));
  return SharedBytes{.segment = *std::move(segment), .length = length};
}

}  // namespace superfluid::ctl
