#include "tools/decode/av_input.h"

extern "C" {
#include <libavformat/avio.h>
#include <libavutil/error.h>
#include <libavutil/mem.h>
}
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "absl/strings/str_cat.h"

namespace superfluid::decode {
namespace {

constexpr int kBufferBytes = 64 << 10;

// How many bytes the recording has; -1: it has no positions, and ends when it does.
absl::StatusOr<int64_t> SizeOf(int fd, const DecodeLimits& limits) {
  struct stat about = {};
  // Not fstat(), which the C library makes a look at a path: the sandbox allows none.
  if (syscall(SYS_fstat, fd, &about) != 0) {
    return absl::ErrnoToStatus(errno, "cannot look at the file");
  }
  if (S_ISDIR(about.st_mode)) return absl::InvalidArgumentError("it is a folder");
  if (!S_ISREG(about.st_mode)) return -1;
  auto size = static_cast<uint64_t>(about.st_size);
  if (limits.input_bytes > 0) size = std::min(size, limits.input_bytes);
  if (size == 0) return absl::InvalidArgumentError("it is empty");
  if (size > limits.max_input_bytes) {
    return absl::ResourceExhaustedError(absl::StrCat("it has ", size, " bytes, more than the ",
                                                     limits.max_input_bytes, " that are allowed"));
  }
  return static_cast<int64_t>(size);
}

}  // namespace

AvInput::AvInput(int fd, int64_t size, uint64_t max_bytes)
    : fd_(fd), size_(size), max_bytes_(max_bytes) {}

AvInput::~AvInput() {
  if (context_ == nullptr) return;
  av_freep(&context_->buffer);
  avio_context_free(&context_);
}

absl::StatusOr<std::unique_ptr<AvInput>> AvInput::Open(int fd, const DecodeLimits& limits) {
  const absl::StatusOr<int64_t> size = SizeOf(fd, limits);
  if (!size.ok()) return size.status();
  auto input = std::unique_ptr<AvInput>(new AvInput(fd, *size, limits.max_input_bytes));
  auto* buffer = static_cast<uint8_t*>(av_malloc(kBufferBytes));
  input->context_ =
      avio_alloc_context(buffer, kBufferBytes, /*write_flag=*/0, input.get(), &AvInput::ReadPacket,
                         nullptr, input->seekable() ? &AvInput::SeekTo : nullptr);
  if (input->context_ == nullptr) {
    av_free(buffer);
    return absl::ResourceExhaustedError("no memory");
  }
  return input;
}

int AvInput::ReadPacket(void* self, uint8_t* buffer, int bytes) {
  return static_cast<AvInput*>(self)->Read(buffer, bytes);
}

int64_t AvInput::SeekTo(void* self, int64_t offset, int whence) {
  return static_cast<AvInput*>(self)->Seek(offset, whence);
}

int AvInput::Read(uint8_t* buffer, int bytes) {
  if (seekable()) bytes = static_cast<int>(std::clamp<int64_t>(size_ - position_, 0, bytes));
  while (true) {
    const ssize_t got = seekable() ? pread(fd_, buffer, static_cast<size_t>(bytes), position_)
                                   : read(fd_, buffer, static_cast<size_t>(bytes));
    if (got == 0) return AVERROR_EOF;
    if (got > 0) {
      position_ += got;
      exceeded_ = static_cast<uint64_t>(position_) > max_bytes_;
      return exceeded_ ? AVERROR(EFBIG) : static_cast<int>(got);
    }
    if (errno == EAGAIN) {
      pollfd readable = {.fd = fd_, .events = POLLIN, .revents = 0};
      poll(&readable, 1, -1);
    } else if (errno != EINTR) {
      return AVERROR(errno);
    }
  }
}

int64_t AvInput::Seek(int64_t offset, int whence) {
  if ((whence & AVSEEK_SIZE) != 0) return size_;
  int64_t base = 0;
  if ((whence & ~AVSEEK_FORCE) == SEEK_CUR) base = position_;
  if ((whence & ~AVSEEK_FORCE) == SEEK_END) base = size_;
  int64_t target = 0;  // hostile files name any offset
  if (__builtin_add_overflow(base, offset, &target) || target < 0) return AVERROR(EINVAL);
  position_ = target;
  return position_;
}

}  // namespace superfluid::decode
