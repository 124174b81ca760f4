#include "engine/loader/bundle_hash.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "engine/loader/model_files.h"
#include "engine/loader/sha256.h"

namespace superfluid {
namespace {

constexpr absl::string_view kDomain = "superfluid engine bundle 2";
constexpr size_t kBlockBytes = size_t{1} << 20U;

class OpenFile {
 public:
  // O_NONBLOCK so that a FIFO is opened, and refused, rather than waited for.
  explicit OpenFile(const std::string& path)
      : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (fd_ >= 0) close(fd_);
  }
  int fd() const { return fd_; }

 private:
  const int fd_;
};

absl::Status ErrnoStatus(const std::string& path, int error) {
  return absl::Status(absl::ErrnoToStatusCode(error),
                      absl::StrCat("'", path, "': ", std::generic_category().message(error)));
}

class BundleHasher {
 public:
  void AddTag(char tag) { hash_.Add(absl::string_view(&tag, 1)); }
  void AddNumber(uint64_t number);
  void AddText(absl::string_view text) {
    AddNumber(text.size());
    hash_.Add(text);
  }
  // Errors: those of EngineBundleHash that concern files.
  absl::Status AddFile(const std::string& path);
  std::array<uint8_t, 32> Finish() { return hash_.Finish(); }

  void AddDomain() { hash_.Add(kDomain); }

 private:
  absl::Status AddContents(const OpenFile& file, const std::string& path, uint64_t size);

  Sha256 hash_;
  std::vector<char> block_ = std::vector<char>(kBlockBytes);
};

void BundleHasher::AddNumber(uint64_t number) {
  std::array<char, 8> bytes = {};
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<char>((number >> (8 * i)) & 0xFFU);
  }
  hash_.Add(absl::string_view(bytes.data(), bytes.size()));
}

absl::Status BundleHasher::AddFile(const std::string& path) {
  const OpenFile file(path);
  if (file.fd() < 0) return ErrnoStatus(path, errno);
  struct stat info = {};
  if (fstat(file.fd(), &info) != 0) return ErrnoStatus(path, errno);
  if (!S_ISREG(info.st_mode)) {
    return absl::InvalidArgumentError(absl::StrCat("'", path, "' is not a regular file"));
  }
  const auto size = static_cast<uint64_t>(info.st_size);
  AddNumber(size);
  return AddContents(file, path, size);
}

absl::Status BundleHasher::AddContents(const OpenFile& file, const std::string& path,
                                       uint64_t size) {
  uint64_t total = 0;
  for (;;) {
    const ssize_t got = read(file.fd(), block_.data(), block_.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return absl::InternalError(ErrnoStatus(path, errno).message());
    if (got == 0) break;
    hash_.Add(absl::string_view(block_.data(), static_cast<size_t>(got)));
    total += static_cast<uint64_t>(got);
    if (total > size) break;
  }
  if (total == size) return absl::OkStatus();
  return absl::AbortedError(absl::StrCat("'", path, "' changed while it was read"));
}

absl::Status AddModel(const std::string& path, BundleHasher& hasher) {
  const absl::StatusOr<ModelParts> parts = PartsOfModel(path);
  if (!parts.ok()) return parts.status();
  const bool is_folder = parts->kind == ModelParts::Kind::kFolder;
  hasher.AddTag(static_cast<char>(parts->kind));
  if (is_folder || parts->kind == ModelParts::Kind::kShards) hasher.AddNumber(parts->files.size());
  for (const ModelFile& file : parts->files) {
    if (is_folder) hasher.AddText(file.name);
    if (absl::Status status = hasher.AddFile(file.path); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status AddOptions(EngineOptions options, BundleHasher& hasher) {
  std::stable_sort(options.begin(), options.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  hasher.AddTag('O');
  hasher.AddNumber(options.size());
  for (const auto& [key, value] : options) {
    hasher.AddText(key);
    if (!NamesFile(value)) {
      hasher.AddTag('T');
      hasher.AddText(value);
      continue;
    }
    hasher.AddTag('F');
    if (absl::Status status = hasher.AddFile(value); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::array<uint8_t, 32>> EngineBundleHash(const std::string& library_path,
                                                         const std::string& model_path,
                                                         const EngineOptions& options) {
  BundleHasher hasher;
  hasher.AddDomain();
  hasher.AddTag('L');
  if (absl::Status status = hasher.AddFile(library_path); !status.ok()) return status;
  if (absl::Status status = AddModel(model_path, hasher); !status.ok()) return status;
  if (absl::Status status = AddOptions(options, hasher); !status.ok()) return status;
  return hasher.Finish();
}

}  // namespace superfluid
