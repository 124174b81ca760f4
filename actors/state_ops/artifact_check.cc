#include "actors/state_ops/artifact_check.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "actors/runtime/engine_status.h"
#include "engine/audio/media_path.h"
#include "engine/loader/sha256.h"
#include "protocol/messages/status.h"
#include "shm/owned_fd.h"

namespace superfluid {
namespace {

// Of all artifacts of a strategy together: a draft model is large, the whole disk is not one.
constexpr uint64_t kMostBytes = uint64_t{64} << 30;
constexpr size_t kReadBytes = size_t{256} << 10;

absl::StatusOr<linkw::Hash> HashOf(int fd, uint64_t bytes, const CancelToken& token) {
  Sha256 hash;
  std::vector<char> block(kReadBytes);
  uint64_t at = 0;
  while (at < bytes) {
    if (token.cancelled()) return absl::CancelledError("cancelled");
    const ssize_t got = pread(fd, block.data(), block.size(), static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return absl::InternalError(absl::StrCat("it cannot be read (error ", errno, ")"));
    if (got == 0) return absl::InvalidArgumentError("it became shorter while it was read");
    hash.Add({block.data(), static_cast<size_t>(got)});
    at += static_cast<uint64_t>(got);
  }
  return hash.Finish();
}

absl::Status CheckFile(int fd, const linkw::StrategyArtifact& artifact, const CancelToken& token) {
  struct stat info {};
  if (fstat(fd, &info) != 0) {
    return absl::InternalError(absl::StrCat("it cannot be read (error ", errno, ")"));
  }
  const auto bytes = static_cast<uint64_t>(info.st_size);
  if (bytes != artifact.byte_size) {
    return absl::InvalidArgumentError(
        absl::StrCat("it has ", bytes, " bytes, not ", artifact.byte_size));
  }
  if (bytes > kMostBytes) return absl::InvalidArgumentError("it is too large");
  const absl::StatusOr<linkw::Hash> hash = HashOf(fd, bytes, token);
  if (!hash.ok()) return hash.status();
  if (*hash != artifact.content_hash) {
    return absl::InvalidArgumentError("its contents do not have the hash that was given");
  }
  return absl::OkStatus();
}

absl::Status About(size_t index, const absl::Status& status) {
  return linkw::MakeStatus(linkw::FromAbsl(SystemStatus(status)),
                           absl::StrCat("artifact ", index, ": ", status.message()));
}

}  // namespace

ArtifactsChecked OpenArtifacts(const std::string& root, const linkw::StrategyRegister& strategy,
                               const CancelToken& token) {
  auto checked = std::make_shared<linkw::StrategyRegister>(strategy);
  auto files = std::make_shared<std::vector<OwnedFd>>();
  for (size_t i = 0; i < checked->artifacts.size(); ++i) {
    linkw::StrategyArtifact& artifact = checked->artifacts[i];
    const absl::StatusOr<int> fd = OpenUnderRoot(root, artifact.load_path);
    if (!fd.ok()) return {.status = About(i, fd.status())};
    files->emplace_back(*fd);
    if (absl::Status status = CheckFile(*fd, artifact, token); !status.ok()) {
      return {.status = About(i, status)};
    }
    const absl::StatusOr<std::string> name = NameOfDescriptor(*fd);
    if (!name.ok()) return {.status = About(i, name.status())};
    artifact.load_path = *name;
  }
  return {.status = absl::OkStatus(), .strategy = std::move(checked), .files = std::move(files)};
}

}  // namespace superfluid
