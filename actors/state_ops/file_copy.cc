#include "actors/state_ops/file_copy.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "actors/runtime/engine_status.h"
#include "engine/audio/media_path.h"
#include "protocol/messages/status.h"
#include "shm/owned_fd.h"

namespace superfluid {
namespace {

constexpr size_t kBlockBytes = size_t{1} << 20;
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;

struct Held {
  OwnedFd file;
  std::shared_ptr<const void> room;
};

// An error that the engine's statuses do not reinterpret: a file is no handle.
absl::Status Exact(const absl::Status& status) {
  return linkw::MakeStatus(linkw::FromAbsl(SystemStatus(status)), MessageOf(status));
}

absl::Status NoMemory() {
  return linkw::MakeStatus(linkw::Status::kOutOfMemory,
                           "there is no memory for a copy of the file");
}

// Reads a whole block, or what there is until the file's end.
absl::StatusOr<size_t> ReadBlock(int fd, uint64_t at, std::vector<char>& block, size_t most) {
  size_t done = 0;
  while (done < most) {
    const ssize_t got = pread(fd, block.data() + done, most - done, static_cast<off_t>(at + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return absl::InternalError(absl::StrCat("the file cannot be read (error ", errno, ")"));
    }
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

bool WriteBlock(int fd, const char* bytes, size_t count) {
  while (count > 0) {
    const ssize_t put = write(fd, bytes, count);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    bytes += put;
    count -= static_cast<size_t>(put);
  }
  return true;
}

absl::Status Copy(int from, int to, uint64_t bytes, const CancelToken& token) {
  std::vector<char> block(std::min<uint64_t>(kBlockBytes, bytes));
  for (uint64_t at = 0; at < bytes;) {
    if (token.cancelled()) return StoppedStatus(token.reason());
    const size_t most = static_cast<size_t>(std::min<uint64_t>(block.size(), bytes - at));
    const absl::StatusOr<size_t> got = ReadBlock(from, at, block, most);
    if (!got.ok()) return got.status();
    if (*got < most) {
      return absl::InvalidArgumentError("the file became shorter while it was read");
    }
    if (!WriteBlock(to, block.data(), most)) return NoMemory();
    at += most;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<CopiedFile> CopyFile(const std::string& root, const std::string& path,
                                    uint64_t most_bytes, MemoryBudget& budget,
                                    const CancelToken& token) {
  const absl::StatusOr<int> opened = OpenUnderRoot(root, path);
  if (!opened.ok()) return Exact(opened.status());
  const OwnedFd from(*opened);
  struct stat info = {};
  if (fstat(from.get(), &info) != 0) {
    return Exact(absl::InternalError(absl::StrCat("the file cannot be read (error ", errno, ")")));
  }
  const auto bytes = static_cast<uint64_t>(info.st_size);
  if (bytes > most_bytes) {
    return Exact(absl::InvalidArgumentError(
        absl::StrCat("the file has ", bytes, " bytes; at most ", most_bytes, " are taken")));
  }
  auto held = std::make_shared<Held>();
  held->room = budget.Take(bytes);
  if (held->room == nullptr) {
    return linkw::MakeStatus(linkw::Status::kBusy, "too many files are being read at once");
  }
  held->file = OwnedFd(memfd_create("superfluid-file", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!held->file.valid()) return NoMemory();
  if (absl::Status copied = Copy(from.get(), held->file.get(), bytes, token); !copied.ok()) {
    return Exact(copied);
  }
  if (fcntl(held->file.get(), F_ADD_SEALS, kSeals) != 0) return NoMemory();
  absl::StatusOr<std::string> name = NameOfDescriptor(held->file.get());
  if (!name.ok()) return Exact(name.status());
  return CopiedFile{.name = *std::move(name), .held = std::move(held)};
}

}  // namespace superfluid
