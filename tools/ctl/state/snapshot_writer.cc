// Writing a snapshot file.
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/ctl/base/temporary_file.h"
#include "tools/ctl/state/snapshot_file.h"
#include "tools/ctl/state/snapshot_layout.h"

namespace superfluid::ctl {
namespace {

absl::Status CannotWrite(const std::string& path) {
  return absl::InternalError(
      absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", path)).message());
}

template <typename T>
void Append(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

absl::Span<const std::byte> AsBytes(const std::string& text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

std::string EncodeDirectory(const SnapshotDirectory& directory) {
  std::string bytes(kSnapshotMagic);
  Append(bytes, kSnapshotVersion);
  Append(bytes, uint32_t{directory.tokens_are_bytes ? 1U : 0U});
  Append(bytes, directory.bundle_hash);
  Append(bytes, directory.position);
  Append(bytes, static_cast<uint32_t>(directory.tokens.size()));
  Append(bytes, static_cast<uint32_t>(directory.spaces.size()));
  for (const linkw::Token token : directory.tokens) Append(bytes, token);
  for (const SnapshotSpace& space : directory.spaces) {
    Append(bytes, space.id);
    Append(bytes, uint32_t{0});
    Append(bytes, space.sealed_bytes);
  }
  Append(bytes, linkw::StateHash(AsBytes(bytes)));
  return bytes;
}

absl::Status WriteAll(int fd, absl::Span<const std::byte> bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return CannotWrite(path);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

// `path`: what to call `fd` in errors.
absl::Status WriteSynced(int fd, const std::string& path, const SnapshotDirectory& directory,
                         absl::Span<const absl::Span<const std::byte>> states) {
  absl::Status status = WriteAll(fd, AsBytes(EncodeDirectory(directory)), path);
  for (size_t i = 0; status.ok() && i < states.size(); ++i) {
    status = WriteAll(fd, states[i], path);
  }
  if (status.ok() && fsync(fd) != 0) status = CannotWrite(path);
  return status;
}

// In the folder of `path`, so that it can take its name.
absl::StatusOr<TemporaryFile> MakeTemporary(const std::string& path) {
  absl::StatusOr<TemporaryFile> file = TemporaryFile::Create(absl::StrCat(path, "."), ".tmp");
  if (file.ok()) return file;
  return absl::InternalError(
      absl::StrCat("cannot write ", path, ": ", std::string(file.status().message())));
}

// What a worker wrote into shared memory is believed only now.
absl::Status ReadBack(const std::string& path, const SnapshotDirectory& directory) {
  const absl::StatusOr<SnapshotFile> file = SnapshotFile::Open(path);
  if (!file.ok()) return absl::DataLossError(file.status().message());
  if (file->directory() != directory)
    return absl::DataLossError("what was written reads otherwise");
  for (size_t i = 0; i < directory.spaces.size(); ++i) {
    const auto envelope = file->CheckState(i);
    if (!envelope.ok()) return absl::DataLossError(envelope.status().message());
  }
  return absl::OkStatus();
}

// Be it a dangling link.
bool FileExists(const std::string& path) {
  struct stat file = {};
  return lstat(path.c_str(), &file) == 0;
}

absl::Status Rename(const std::string& from, const std::string& to, bool force) {
  const unsigned flags = force ? 0 : RENAME_NOREPLACE;
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), flags) == 0) return absl::OkStatus();
  // Some file systems cannot refuse to replace; the caller has looked before.
  if (errno == EINVAL && !force && !FileExists(to) && rename(from.c_str(), to.c_str()) == 0) {
    return absl::OkStatus();
  }
  if (errno == EEXIST) return absl::AlreadyExistsError(absl::StrCat(to, " exists"));
  return CannotWrite(to);
}

// So that the new name survives too.
void SyncFolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const OwnedFd fd(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.valid()) fsync(fd.get());
}

}  // namespace

absl::Status CheckSnapshotTarget(const std::string& path, bool force) {
  struct stat file = {};
  if (lstat(path.c_str(), &file) != 0) return MakeTemporary(path).status();
  if (S_ISREG(file.st_mode)) {
    return force ? MakeTemporary(path).status()
                 : absl::AlreadyExistsError(absl::StrCat(path, " exists"));
  }
  const char* why = S_ISLNK(file.st_mode) ? ": it is a symbolic link" : "";
  return absl::FailedPreconditionError(absl::StrCat(path, " is not a regular file", why));
}

absl::Status WriteSnapshotFile(const std::string& path, bool force,
                               const SnapshotDirectory& directory,
                               absl::Span<const absl::Span<const std::byte>> states) {
  if (absl::Status checked = CheckSnapshotTarget(path, force); !checked.ok()) return checked;
  absl::StatusOr<TemporaryFile> temporary = MakeTemporary(path);
  if (!temporary.ok()) return temporary.status();
  const std::string beside = temporary->path();
  absl::Status status = WriteSynced(temporary->fd(), beside, directory, states);
  if (status.ok()) status = ReadBack(beside, directory);
  if (!status.ok()) return status;
  // From here on it is whole, and the only one: the sequence goes with the link.
  temporary->Keep();
  status = Rename(beside, path, force);
  if (status.ok()) {
    SyncFolderOf(path);
    return status;
  }
  return absl::InternalError(
      absl::StrCat(std::string(status.message()), "; the whole snapshot is in ", beside));
}

}  // namespace superfluid::ctl
