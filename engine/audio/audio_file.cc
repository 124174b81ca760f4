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

// The error number of the first read of a file that failed; 0: none has.
using ReadError = std::shared_ptr<int>;

// Owns the descriptor. The file may shrink while it is read: then fewer bytes come. So they do when
// it cannot be read, which `error` tells apart.
class FileBytes : public ByteSource {
 public:
  FileBytes(int fd, int64_t size, ReadError error)
      : fd_(fd), size_(size), error_(std::move(error)) {}
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
      if (got < 0 && *error_ == 0) *error_ = errno;
      if (got <= 0) break;
      done += static_cast<size_t>(got);
    }
    return done;
  }

 private:
  int fd_;
  int64_t size_;
  const ReadError error_;
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

// The system's error where there was one: a file that cannot be read is not damaged.
absl::Status Explained(const absl::Status& status, const ReadError& error) {
  if (*error == 0) return status;
  return absl::InternalError(absl::StrCat("it cannot be read (error ", *error, ")"));
}

// Gives the name to what Read reports, too.
class NamedSource : public AudioSource {
 public:
  NamedSource(std::unique_ptr<AudioSource> source, std::string_view name, ReadError error)
      : source_(std::move(source)), name_(name), error_(std::move(error)) {}

  absl::StatusOr<Block> Read(absl::Span<float> out) override {
    absl::StatusOr<Block> block = source_->Read(out);
    if (!block.ok()) return Prefixed(Explained(block.status(), error_), name_);
    if (block->state != State::kEnd || *error_ == 0) return block;
    if (block->frames == 0) return Prefixed(Explained(absl::OkStatus(), error_), name_);
    block->state = State::kMore;  // the error comes behind what was read before it
    return block;
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
  const ReadError error_;
};

absl::StatusOr<std::unique_ptr<AudioSource>> OpenEncoded(std::unique_ptr<ByteSource> bytes,
                                                         std::string_view name,
                                                         const AudioLimits& limits,
                                                         const ReadError& error) {
  absl::StatusOr<std::unique_ptr<FrameReader>> reader =
      LooksLikeMpeg(*bytes) ? OpenMpegReader(std::move(bytes)) : OpenJoinedReader(std::move(bytes));
  if (!reader.ok()) return Prefixed(Explained(reader.status(), error), name);
  absl::StatusOr<std::unique_ptr<AudioSource>> source =
      MakeRecordedSource(*std::move(reader), limits);
  if (!source.ok()) return Prefixed(Explained(source.status(), error), name);
  return std::make_unique<NamedSource>(*std::move(source), name, error);
}

}  // namespace

absl::StatusOr<std::unique_ptr<AudioSource>> OpenAudioFile(int fd, std::string_view name,
                                                           const AudioLimits& limits) {
  struct stat info = {};
  const bool regular = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
  const auto error = std::make_shared<int>(0);
  auto bytes = std::make_unique<FileBytes>(fd, regular ? info.st_size : 0, error);
  if (!regular) {
    return Prefixed(absl::InvalidArgumentError("it is not a regular file"), name);
  }
  return OpenEncoded(std::move(bytes), name, limits, error);
}

absl::StatusOr<std::unique_ptr<AudioSource>> OpenAudioMemory(absl::Span<const std::byte> bytes,
                                                             std::shared_ptr<const void> keepalive,
                                                             std::string_view name,
                                                             const AudioLimits& limits) {
  return OpenEncoded(std::make_unique<MemoryBytes>(bytes, std::move(keepalive)), name, limits,
                     std::make_shared<int>(0));
}

}  // namespace superfluid
