// Reading.
#include "tools/ctl/state/snapshot_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/ctl/state/snapshot_layout.h"

namespace superfluid::ctl {
namespace {

template <typename T>
T Load(absl::Span<const std::byte> bytes, size_t at) {
  T value{};
  std::memcpy(&value, bytes.data() + at, sizeof(value));
  return value;
}

absl::Status FileError(const std::string& path) {
  return absl::InternalError(
      absl::ErrnoToStatus(errno, absl::StrCat("cannot read ", path)).message());
}

absl::StatusOr<uint64_t> SizeOf(int fd, const std::string& path) {
  struct stat file = {};
  if (fstat(fd, &file) != 0) return FileError(path);
  if (!S_ISREG(file.st_mode)) {
    return absl::InvalidArgumentError(absl::StrCat(path, " is not a file"));
  }
  return static_cast<uint64_t>(file.st_size);
}

}  // namespace

absl::Status SnapshotFile::No(const std::string& what) const {
  return absl::InvalidArgumentError(absl::StrCat(path_, " is no snapshot: ", what));
}

absl::StatusOr<SnapshotFile> SnapshotFile::Open(const std::string& path) {
  // Not to wait for the writer of a pipe.
  OwnedFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) return FileError(path);
  SnapshotFile file(path, std::move(fd));
  if (absl::Status status = file.ReadDirectory(); !status.ok()) return status;
  return file;
}

absl::Status SnapshotFile::ReadAt(uint64_t offset, absl::Span<std::byte> out) const {
  while (!out.empty()) {
    const ssize_t got = pread(fd_.get(), out.data(), out.size(), static_cast<off_t>(offset));
    if (got == 0) return No("it became shorter");
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return FileError(path_);
    offset += static_cast<uint64_t>(got);
    out.remove_prefix(static_cast<size_t>(got));
  }
  return absl::OkStatus();
}

// The length of the directory, without its checksum, held against the file's before it is used.
absl::StatusOr<uint64_t> SnapshotFile::ReadHeader(uint64_t file_bytes) const {
  if (file_bytes < kSnapshotHeaderBytes + kSnapshotHashBytes) return No("it is too short");
  std::array<std::byte, kSnapshotHeaderBytes> header = {};
  if (absl::Status status = ReadAt(0, absl::MakeSpan(header)); !status.ok()) return status;
  if (std::memcmp(header.data(), kSnapshotMagic.data(), kSnapshotMagic.size()) != 0) {
    return No("it begins with something else");
  }
  const auto version = Load<uint32_t>(header, kSnapshotVersionAt);
  if (version != kSnapshotVersion) {
    return No(absl::StrCat("it has version ", version, ", this program reads version ",
                           kSnapshotVersion));
  }
  const uint64_t spaces = Load<uint32_t>(header, kSnapshotSpacesAt);
  if (spaces > kSnapshotMaxSpaces) return No("it has too many state spaces");
  const uint64_t bytes = kSnapshotHeaderBytes +
                         uint64_t{Load<uint32_t>(header, kSnapshotTokensAt)} * 4 +
                         spaces * kSnapshotSpaceBytes;
  if (bytes > file_bytes - kSnapshotHashBytes) return No("it is cut");
  return bytes;
}

absl::Status SnapshotFile::ReadDirectory() {
  const absl::StatusOr<uint64_t> file_bytes = SizeOf(fd_.get(), path_);
  if (!file_bytes.ok()) return file_bytes.status();
  const absl::StatusOr<uint64_t> hashed_bytes = ReadHeader(*file_bytes);
  if (!hashed_bytes.ok()) return hashed_bytes.status();
  std::vector<std::byte> bytes(*hashed_bytes + kSnapshotHashBytes);
  if (absl::Status status = ReadAt(0, absl::MakeSpan(bytes)); !status.ok()) return status;
  const auto hashed = absl::MakeConstSpan(bytes).first(*hashed_bytes);
  if (linkw::StateHash(hashed) != Load<uint64_t>(bytes, *hashed_bytes)) {
    return No("its directory is damaged");
  }
  return Decode(hashed, *file_bytes - bytes.size());
}

// `state_bytes`: what the file has behind the directory.
absl::Status SnapshotFile::Decode(absl::Span<const std::byte> bytes, uint64_t state_bytes) {
  directory_.tokens_are_bytes = (Load<uint32_t>(bytes, kSnapshotFlagsAt) & 1) != 0;
  directory_.bundle_hash = Load<linkw::Hash>(bytes, kSnapshotBundleAt);
  directory_.position = Load<uint64_t>(bytes, kSnapshotPositionAt);
  const size_t tokens = Load<uint32_t>(bytes, kSnapshotTokensAt);
  const size_t spaces_at = kSnapshotHeaderBytes + tokens * sizeof(linkw::Token);
  if (directory_.position > tokens) return No("its state is longer than its tokens");
  for (size_t at = kSnapshotHeaderBytes; at < spaces_at; at += sizeof(linkw::Token)) {
    directory_.tokens.push_back(Load<linkw::Token>(bytes, at));
  }
  uint64_t offset = bytes.size() + kSnapshotHashBytes;
  for (size_t at = spaces_at; at < bytes.size(); at += kSnapshotSpaceBytes) {
    const SnapshotSpace space = {Load<linkw::SpaceId>(bytes, at), Load<uint64_t>(bytes, at + 8)};
    if (space.sealed_bytes > state_bytes) return No("it is cut");
    directory_.spaces.push_back(space);
    offsets_.push_back(offset);
    offset += space.sealed_bytes;
    state_bytes -= space.sealed_bytes;
  }
  return state_bytes == 0 ? absl::OkStatus() : No("something follows its end");
}

absl::Status SnapshotFile::ReadState(size_t index, absl::Span<std::byte> out) const {
  if (out.size() != directory_.spaces[index].sealed_bytes) {
    return absl::InvalidArgumentError("the room for a state has another size");
  }
  return ReadAt(offsets_[index], out);
}

absl::StatusOr<linkw::StateEnvelope> SnapshotFile::CheckState(size_t index) const {
  const SnapshotSpace& space = directory_.spaces[index];
  std::vector<std::byte> sealed(space.sealed_bytes);
  if (absl::Status status = ReadState(index, absl::MakeSpan(sealed)); !status.ok()) return status;
  absl::StatusOr<linkw::StateEnvelope> envelope = linkw::CheckSealedState(sealed);
  const std::string name = absl::StrCat("state space ", static_cast<uint32_t>(space.id));
  if (!envelope.ok()) return No(absl::StrCat(name, ": ", envelope.status().message()));
  if (envelope->space_id != space.id || envelope->sealed_bytes() != space.sealed_bytes ||
      envelope->range != linkw::TokenRange{0, directory_.position}) {
    return No(absl::StrCat(name, " is sealed for something else"));
  }
  return envelope;
}

}  // namespace superfluid::ctl
