#include "engine/audio/audio_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/audio/byte_source.h"
#include "engine/audio/frame_reader.h"
#include "engine/audio/joined_reader.h"
#include "engine/audio/mpeg_reader.h"
#include "engine/audio/printable_name.h"

namespace superfluid {
namespace {

// Owns the descriptor. The file may shrink while it is read: then fewer bytes come.
class FileBytes : public ByteSource {
 public:
  FileBytes(int fd, int64_t size) : fd_(fd), size_(size) {}
  ~FileBytes() override { close(fd_); }
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;

  int64_t size() const override { return size_; }

  size_t ReadAt(int64_t offset, void* to, size_t count) override {
    size_t done = 0;
    while (done < count) {
      const ssize_t got = pread(fd_, static_cast<char*>(to) + done, count - done,
                                offset + static_cast<int64_t>(done));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      done += static_cast<size_t>(got);
    }
    return done;
  }

 private:
  int fd_;
  int64_t size_;
};

class MemoryBytes : public ByteSource {
 public:
  MemoryBytes(absl::Span<const std::byte> bytes, std::shared_ptr<const void> keepalive)
      : bytes_(bytes), keepalive_(std::move(keepalive)) {}

  int64_t size() const override { return static_cast<int64_t>(bytes_.size()); }

  size_t ReadAt(int64_t offset, void* to, size_t count) override {
    const absl::Span<const std::byte> rest = bytes_.subspan(static_cast<size_t>(offset));
    const size_t length = std::min(count, rest.size());
    std::memcpy(to, rest.data(), length);
    return length;
  }

 private:
  absl::Span<const std::byte> bytes_;
  std::shared_ptr<const void> keepalive_;
};

absl::Status Prefixed(const absl::Status& status, std::string_view name) {
  return absl::Status(status.code(), absl::StrCat(PrintableName(name), ": ", status.message()));
}

// Gives the name to what Read reports, too.
class NamedSource : public AudioSource {
 public:
  NamedSource(std::unique_ptr<AudioSource> source, std::string_view name)
      : source_(std::move(source)), name_(name) {}

  absl::StatusOr<Block> Read(absl::Span<float> out) override {
    absl::StatusOr<Block> block = source_->Read(out);
    return block.ok() ? block : Prefixed(block.status(), name_);
  }

  std::optional<absl::Duration> TotalDuration() const override { return source_->TotalDuration(); }
  bool IsLive() const override { return source_->IsLive(); }
  std::string Remark() const override {
    const std::string remark = source_->Remark();
    return remark.empty() ? "" : absl::StrCat(PrintableName(name_), ": ", remark);
  }

 private:
  std::unique_ptr<AudioSource> source_;
  std::string name_;
};

absl::StatusOr<std::unique_ptr<AudioSource>> OpenEncoded(std::unique_ptr<ByteSource> bytes,
                                                         std::string_view name,
                                                         const AudioLimits& limits) {
  absl::StatusOr<std::unique_ptr<FrameReader>> reader =
      LooksLikeMpeg(*bytes) ? OpenMpegReader(std::move(bytes)) : OpenJoinedReader(std::move(bytes));
  if (!reader.ok()) return Prefixed(reader.status(), name);
  absl::StatusOr<std::unique_ptr<AudioSource>> source =
      MakeRecordedSource(*std::move(reader), limits);
  if (!source.ok()) return Prefixed(source.status(), name);
  return std::make_unique<NamedSource>(*std::move(source), name);
}

}  // namespace

absl::StatusOr<std::unique_ptr<AudioSource>> OpenAudioFile(int fd, std::string_view name,
                                                           const AudioLimits& limits) {
  struct stat info = {};
  const bool regular = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
  auto bytes = std::make_unique<FileBytes>(fd, regular ? info.st_size : 0);
  if (!regular) {
    return Prefixed(absl::InvalidArgumentError("it is not a regular file"), name);
  }
  return OpenEncoded(std::move(bytes), name, limits);
}

absl::StatusOr<std::unique_ptr<AudioSource>> OpenAudioMemory(absl::Span<const std::byte> bytes,
                                                             std::shared_ptr<const void> keepalive,
                                                             std::string_view name,
                                                             const AudioLimits& limits) {
  return OpenEncoded(std::make_unique<MemoryBytes>(bytes, std::move(keepalive)), name, limits);
}

}  // namespace superfluid
