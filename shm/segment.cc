#include "shm/segment.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <cerrno>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace superfluid {
namespace {

// Newer than the distribution's headers (Linux 6.3): the memory can never be made executable.
constexpr unsigned kMfdNoexecSeal = 0x0008U;
constexpr unsigned kMemfdFlags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
constexpr size_t kSmallestPage = 4096;
constexpr uint64_t kMaxFileBytes = std::numeric_limits<int64_t>::max();
constexpr size_t kMaxNameBytes = 200;
constexpr int kSizeSeals = F_SEAL_SHRINK | F_SEAL_GROW;

OwnedFd MakeMemfd(const std::string& name) {
  OwnedFd fd(memfd_create(name.c_str(), kMemfdFlags | kMfdNoexecSeal));
  if (fd.valid() || errno != EINVAL) return fd;
  return OwnedFd(memfd_create(name.c_str(), kMemfdFlags));  // an older kernel
}

absl::Status Resize(int fd, uint64_t bytes) {
  int rc = 0;
  do {
    rc = ftruncate(fd, static_cast<off_t>(bytes));
  } while (rc != 0 && errno == EINTR);
  if (rc == 0) return absl::OkStatus();
  if (errno == EFBIG || errno == EINVAL) {
    return absl::InvalidArgumentError(absl::StrCat("a segment cannot have ", bytes, " bytes"));
  }
  return absl::ErrnoToStatus(errno, "cannot size a shared segment");
}

// Only a memfd of ordinary pages: any other file may be truncated, or (huge pages) may have no page
// to give when it is touched, and then the touch is a SIGBUS.
absl::Status CheckSealedMemfd(int fd) {
  struct statfs fs = {};
  const int seals = fcntl(fd, F_GET_SEALS);
  if (seals < 0 || fstatfs(fd, &fs) != 0 || fs.f_type != TMPFS_MAGIC) {
    return absl::InvalidArgumentError("the descriptor is not a memfd of ordinary pages");
  }
  if ((seals & kSizeSeals) != kSizeSeals) {
    return absl::InvalidArgumentError(
        "the memfd must be sealed against shrinking and growing before it is passed");
  }
  return absl::OkStatus();
}

absl::Status CheckSize(int fd, uint64_t expected_bytes, const SegmentLimits& limits) {
  struct stat file = {};
  if (fstat(fd, &file) != 0) return absl::ErrnoToStatus(errno, "cannot stat a shared segment");
  const auto bytes = static_cast<uint64_t>(file.st_size);
  if (bytes < expected_bytes) {
    return absl::InvalidArgumentError(absl::StrCat("the segment has ", bytes, " bytes, fewer than ",
                                                   expected_bytes, " as announced"));
  }
  if (bytes > limits.max_bytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the segment has ", bytes, " bytes, more than the limit of ", limits.max_bytes));
  }
  return absl::OkStatus();
}

int Protection(SegmentAccess access) {
  return access == SegmentAccess::kReadWrite ? PROT_READ | PROT_WRITE : PROT_READ;
}

// For kernels without MADV_POPULATE_*: touching a page brings it in, and a load changes nothing.
void TouchPages(const std::byte* data, size_t size) {
  for (size_t at = 0; at < size; at += kSmallestPage) {
    static_cast<void>(*static_cast<const volatile std::byte*>(data + at));
  }
}

}  // namespace

Segment::Segment(OwnedFd fd, std::byte* data, size_t size, SegmentAccess access)
    : fd_(std::move(fd)), data_(data), size_(size), access_(access) {}

Segment::~Segment() { Unmap(); }

Segment::Segment(Segment&& other) noexcept
    : fd_(std::move(other.fd_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      access_(other.access_) {}

Segment& Segment::operator=(Segment&& other) noexcept {
  if (this == &other) return *this;
  Unmap();
  fd_ = std::move(other.fd_);
  data_ = std::exchange(other.data_, nullptr);
  size_ = std::exchange(other.size_, 0);
  access_ = other.access_;
  return *this;
}

void Segment::Unmap() {
  if (data_ != nullptr) munmap(data_, size_);
  data_ = nullptr;
  size_ = 0;
}

absl::StatusOr<Segment> Segment::Create(uint64_t bytes, std::string_view name) {
  if (bytes == 0 || bytes > kMaxFileBytes) {
    return absl::InvalidArgumentError(absl::StrCat("a segment cannot have ", bytes, " bytes"));
  }
  if (name.size() > kMaxNameBytes || name.find('\0') != std::string_view::npos) {
    return absl::InvalidArgumentError("bad name for a segment");
  }
  OwnedFd fd = MakeMemfd(std::string(name));
  if (!fd.valid()) return absl::ErrnoToStatus(errno, "cannot make a shared segment");
  if (absl::Status status = Resize(fd.get(), bytes); !status.ok()) return status;
  // F_SEAL_SEAL too: a peer could otherwise forbid later mappings for writing.
  if (fcntl(fd.get(), F_ADD_SEALS, kSizeSeals | F_SEAL_SEAL) != 0) {
    return absl::ErrnoToStatus(errno, "cannot seal a shared segment");
  }
  return Map(std::move(fd), static_cast<size_t>(bytes), SegmentAccess::kReadWrite);
}

absl::StatusOr<Segment> Segment::Attach(OwnedFd fd, uint64_t expected_bytes, SegmentAccess access,
                                        const SegmentLimits& limits) {
  if (expected_bytes == 0) return absl::InvalidArgumentError("a segment of 0 bytes");
  // Seals before size: once they are there the size cannot change any more.
  if (absl::Status status = CheckSealedMemfd(fd.get()); !status.ok()) return status;
  if (absl::Status status = CheckSize(fd.get(), expected_bytes, limits); !status.ok()) {
    return status;
  }
  absl::StatusOr<Segment> segment = Map(std::move(fd), static_cast<size_t>(expected_bytes), access);
  // The mapping holds the memory. A peer may have a thousand buffers: their descriptors are closed.
  if (segment.ok()) segment->fd_ = OwnedFd();
  return segment;
}

absl::StatusOr<Segment> Segment::Map(OwnedFd fd, size_t size, SegmentAccess access) {
  void* data = mmap(nullptr, size, Protection(access), MAP_SHARED, fd.get(), 0);
  if (data != MAP_FAILED) {
    return Segment(std::move(fd), static_cast<std::byte*>(data), size, access);
  }
  if (errno == EACCES || errno == EPERM) {
    return absl::PermissionDeniedError(
        access == SegmentAccess::kReadWrite
            ? "the segment must be writable, but it is sealed against writing or was passed "
              "read-only"
            : "the segment was passed without the right to read it");
  }
  return absl::ErrnoToStatus(errno, "cannot map a shared segment");
}

absl::StatusOr<absl::Span<std::byte>> Segment::Slice(uint64_t offset, uint64_t length) const {
  // Subtraction, not addition: the sum of a peer's numbers may wrap around.
  if (offset > size_ || length > size_ - offset) {
    return absl::OutOfRangeError(absl::StrCat(length, " bytes at offset ", offset,
                                              " do not lie in a segment of ", size_, " bytes"));
  }
  return absl::MakeSpan(data_ + offset, static_cast<size_t>(length));
}

absl::Status Segment::Prefault() const {
  if (data_ == nullptr) return absl::OkStatus();
  const int advice = writable() ? MADV_POPULATE_WRITE : MADV_POPULATE_READ;
  int rc = 0;
  do {
    rc = madvise(data_, size_, advice);
  } while (rc != 0 && (errno == EINTR || errno == EAGAIN));
  if (rc == 0) return absl::OkStatus();
  if (errno != EINVAL) {
    return absl::ResourceExhaustedError("not enough memory for all of a shared segment");
  }
  TouchPages(data_, size_);
  return absl::OkStatus();
}

absl::StatusOr<OwnedFd> Segment::DuplicateFd() const {
  if (!fd_.valid())
    return absl::FailedPreconditionError("only a segment made here has a descriptor");
  OwnedFd copy(fcntl(fd_.get(), F_DUPFD_CLOEXEC, 0));
  if (!copy.valid()) return absl::ErrnoToStatus(errno, "cannot duplicate a descriptor");
  return copy;
}

}  // namespace superfluid
