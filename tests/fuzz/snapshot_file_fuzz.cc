// A snapshot's file, as `superfluidctl restore` reads it.

#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "shm/owned_fd.h"
#include "tests/fuzz/target.h"
#include "tools/ctl/state/snapshot_file.h"

namespace superfluid::fuzz {

void FuzzOne(std::string_view bytes) {
  const OwnedFd file(memfd_create("snapshot", MFD_CLOEXEC));
  Require(file.get() >= 0);
  Require(write(file.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  const std::string path = absl::StrCat("/proc/self/fd/", file.get());
  const auto snapshot = ctl::SnapshotFile::Open(path);
  if (!snapshot.ok()) {
    Require(!snapshot.status().message().empty());
    return;
  }
  const ctl::SnapshotDirectory& directory = snapshot->directory();
  Require(directory.spaces.size() <= 64 && directory.tokens.size() * 4 <= bytes.size());
  for (size_t i = 0; i < directory.spaces.size(); ++i) {
    const uint64_t sealed_bytes = directory.spaces[i].sealed_bytes;
    Require(sealed_bytes <= bytes.size());
    std::vector<std::byte> state(sealed_bytes);
    Require(snapshot->ReadState(i, absl::MakeSpan(state)).ok());
    const auto envelope = snapshot->CheckState(i);
    if (envelope.ok()) Require(envelope->sealed_bytes() == sealed_bytes);
  }
}

}  // namespace superfluid::fuzz
