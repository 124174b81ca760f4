#include "tools/superfluidd/upload/audio_body.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace superfluid::daemon {
namespace {

constexpr double kCompressedBytesPerSecond = 16'000;  // 128 kbit/s
constexpr double kFlacBytesPerSecond = 60'000;
constexpr size_t kByteRateAt = 28;  // in a wav file's first chunk

absl::Status NoMemory(const char* what) {
  return absl::ResourceExhaustedError(
      absl::StrCat(what, ": ", absl::ErrnoToStatus(errno, "").message()));
}

absl::StatusOr<OwnedFd> MakeFile() {
  OwnedFd fd(memfd_create("superfluidd-upload", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.valid()) return NoMemory("no memory file for the upload");
  return fd;
}

absl::Status WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return NoMemory("no memory for the upload");
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

uint32_t LittleEndian32(std::string_view bytes) {
  uint32_t value = 0;
  for (size_t i = 4; i-- > 0;) value = (value << 8) | static_cast<unsigned char>(bytes[i]);
  return value;
}

}  // namespace

absl::Status AudioBody::Append(std::string_view bytes) {
  if (!share_.Grow(bytes.size())) {
    return absl::ResourceExhaustedError("the uploads in progress take all the memory they may");
  }
  if (absl::Status status = Write(bytes); !status.ok()) return status;
  size_ += bytes.size();
  return absl::OkStatus();
}

absl::Status AudioBody::Write(std::string_view bytes) {
  if (!file_.valid() && size_ + bytes.size() > kSmall) {
    absl::StatusOr<OwnedFd> file = MakeFile();
    if (!file.ok()) return file.status();
    file_ = *std::move(file);
    if (absl::Status status = WriteAll(file_.get(), small_); !status.ok()) return status;
  }
  if (small_.size() < kSmall) small_.append(bytes.substr(0, kSmall - small_.size()));
  return file_.valid() ? WriteAll(file_.get(), bytes) : absl::OkStatus();
}

absl::StatusOr<OwnedFd> AudioBody::SealedFd() const {
  OwnedFd fd;
  if (file_.valid()) {
    fd.Reset(fcntl(file_.get(), F_DUPFD_CLOEXEC, 0));
    if (!fd.valid()) return NoMemory("no descriptor for the upload");
  } else {
    absl::StatusOr<OwnedFd> file = MakeFile();
    if (!file.ok()) return file;
    fd = *std::move(file);
    if (absl::Status status = WriteAll(fd.get(), small_); !status.ok()) return status;
  }
  if (fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0) {
    return NoMemory("the upload cannot be sealed");
  }
  return fd;
}

double EstimateSeconds(std::string_view begin, uint64_t bytes) {
  const auto size = static_cast<double>(bytes);
  const auto is_at = [&](size_t at, std::string_view word) {
    return begin.size() >= at + word.size() && begin.substr(at, word.size()) == word;
  };
  if (is_at(0, "RIFF") && is_at(8, "WAVE") && begin.size() >= kByteRateAt + 4) {
    const uint32_t rate = LittleEndian32(begin.substr(kByteRateAt, 4));
    if (rate >= 100) return size / rate;
  }
  return size / (is_at(0, "fLaC") ? kFlacBytesPerSecond : kCompressedBytesPerSecond);
}

}  // namespace superfluid::daemon
