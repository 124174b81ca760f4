#include "tools/ctl/base/file_output.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/ctl/base/descriptor_name.h"

namespace superfluid::ctl {
namespace {

constexpr char kTemporaryName[] = ".superfluidctl-";
constexpr mode_t kPermissions = 0777;
constexpr int kMostLinks = 40;  // as the system's own limit
constexpr size_t kCopyBytes = 65536;

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

// Follows the links that `path` itself is, not those among its folders. The last one may lead to
// no file.
std::string BehindLinks(std::string path) {
  for (int i = 0; i < kMostLinks; ++i) {
    std::array<char, PATH_MAX> buffer = {};
    const ssize_t length = readlink(path.c_str(), buffer.data(), buffer.size());
    if (length <= 0) break;
    const std::string next(buffer.data(), static_cast<size_t>(length));
    path = next.front() == '/' ? next : FolderOf(path) + next;
  }
  return path;
}

// What open would give a new file.
mode_t UsualMode() {
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

// A file that takes another's place has one name, and belongs to whoever made it.
bool MayBeReplaced(const struct stat& file) {
  return file.st_nlink == 1 && file.st_uid == geteuid();
}

absl::StatusOr<std::string> ReadAll(int fd) {
  std::string all;
  std::array<char, kCopyBytes> buffer = {};
  while (true) {
    const ssize_t got = pread(fd, buffer.data(), buffer.size(), static_cast<off_t>(all.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return absl::InternalError(std::strerror(errno));
    if (got == 0) return all;
    all.append(buffer.data(), static_cast<size_t>(got));
  }
}

}  // namespace

absl::Status FileOutput::Cannot(const std::string& why) const {
  return absl::InternalError(absl::StrCat("cannot write ", path_, ": ", why));
}

// ---- Before the work

absl::StatusOr<FileOutput> FileOutput::Create(const std::string& path) {
  FileOutput output(path);
  struct stat file = {};
  absl::Status status;
  if (const std::optional<int> named = DescriptorNamed(path); named.has_value()) {
    status = output.WriteThrough(*named);
  } else if (stat(path.c_str(), &file) == 0) {
    const std::optional<int> writing = DescriptorWriting(file);
    if (writing.has_value()) {
      status = output.WriteThrough(*writing);
    } else {
      status = S_ISREG(file.st_mode) ? output.Stage(&file) : output.OpenSpecial();
    }
  } else {
    status = errno == ENOENT ? output.Stage(nullptr) : output.Cannot(std::strerror(errno));
  }
  if (!status.ok()) return status;
  return output;
}

absl::Status FileOutput::WriteThrough(int open_fd) {
  fd_.Reset(fcntl(open_fd, F_DUPFD_CLOEXEC, 0));
  if (!fd_.valid()) return Cannot(std::strerror(errno));
  return IsWritable(open_fd) ? absl::OkStatus() : Cannot("it is open for reading only");
}

absl::Status FileOutput::OpenSpecial() {
  fd_.Reset(open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
  return fd_.valid() ? absl::OkStatus() : Cannot(std::strerror(errno));
}

// `file`: what is there; null: nothing.
absl::Status FileOutput::Stage(const struct stat* file) {
  target_ = BehindLinks(path_);
  replaces_ = file != nullptr;
  if (file == nullptr) return StageBeside(nullptr);
  // Whoever may not write a file might still replace it, or find out after the work.
  const OwnedFd writable(open(target_.c_str(), O_WRONLY | O_CLOEXEC));
  if (!writable.valid()) return Cannot(std::strerror(errno));
  in_place_ = !MayBeReplaced(*file) || !StageBeside(file).ok();
  return staged_.has_value() ? absl::OkStatus() : StageElsewhere();
}

absl::Status FileOutput::StageBeside(const struct stat* file) {
  absl::StatusOr<TemporaryFile> staged =
      TemporaryFile::Create(absl::StrCat(FolderOf(target_), kTemporaryName), "");
  if (!staged.ok()) return Cannot(std::string(staged.status().message()));
  const mode_t mode = file == nullptr ? UsualMode() : file->st_mode & kPermissions;
  // The group first: to change it may clear bits. Who may not give it keeps the folder's.
  if (file != nullptr) {
    [[maybe_unused]] const int given = fchown(staged->fd(), static_cast<uid_t>(-1), file->st_gid);
  }
  if (fchmod(staged->fd(), mode) != 0) return Cannot(std::strerror(errno));
  staged_.emplace(*std::move(staged));
  return absl::OkStatus();
}

absl::Status FileOutput::StageElsewhere() {
  const char* folder = std::getenv("TMPDIR");
  absl::StatusOr<TemporaryFile> staged = TemporaryFile::Create(
      absl::StrCat(folder == nullptr || *folder == '\0' ? "/tmp" : folder, "/", kTemporaryName),
      "");
  if (!staged.ok()) {
    return Cannot(absl::StrCat("there is no room for it in $TMPDIR: ",
                               std::string(staged.status().message())));
  }
  staged_.emplace(*std::move(staged));
  return absl::OkStatus();
}

// ---- During it

absl::Status FileOutput::Write(std::string_view text) {
  if (!staged_.has_value()) return WriteAll(fd_.get(), &text, path_);
  absl::Status status;
  if (unwritten_.empty()) status = WriteAll(staged_->fd(), &text, path_);
  unwritten_.append(text);
  return status;
}

// ---- After it

absl::Status FileOutput::Commit() {
  if (!staged_.has_value()) return absl::OkStatus();
  if (!unwritten_.empty()) return Cannot("not all of the text could be written");
  if (in_place_) {
    absl::Status status = CopyInPlace();
    if (status.ok()) staged_.reset();
    return status;
  }
  if (fsync(staged_->fd()) != 0) return Cannot(std::strerror(errno));
  if (rename(staged_->path().c_str(), target_.c_str()) == 0) {
    staged_->Keep();
    staged_.reset();
    return absl::OkStatus();
  }
  const int error = errno;
  if (replaces_ && CopyInPlace().ok()) {
    staged_.reset();
    return absl::OkStatus();
  }
  if (!staged_->HasName()) return Cannot(std::strerror(error));
  const std::string beside = staged_->path();
  staged_->Keep();
  staged_.reset();
  return Cannot(absl::StrCat(std::strerror(error), "; the text is in ", beside));
}

absl::Status FileOutput::CopyInPlace() const {
  const absl::StatusOr<std::string> text = ReadAll(staged_->fd());
  if (!text.ok()) return Cannot(std::string(text.status().message()));
  const OwnedFd fd(open(target_.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd.valid()) return Cannot(std::strerror(errno));
  std::string_view rest = *text;
  if (absl::Status status = WriteAll(fd.get(), &rest, path_); !status.ok()) return status;
  if (ftruncate(fd.get(), static_cast<off_t>(text->size())) != 0 || fsync(fd.get()) != 0) {
    return Cannot(std::strerror(errno));
  }
  return absl::OkStatus();
}

std::string FileOutput::TakeText() {
  if (!staged_.has_value()) return "";
  std::string text = ReadAll(staged_->fd()).value_or("");
  text += std::exchange(unwritten_, {});
  staged_.reset();
  return text;
}

}  // namespace superfluid::ctl
