// A projector's file, looked at before the library does.

#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/llama/projector_check.h"
#include "shm/owned_fd.h"
#include "tests/fuzz/target.h"

namespace superfluid::fuzz {

void FuzzOne(std::string_view bytes) {
  const OwnedFd file(memfd_create("projector", MFD_CLOEXEC));
  Require(file.get() >= 0);
  Require(write(file.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  const auto facts = CheckProjector(absl::StrCat("/proc/self/fd/", file.get()));
  if (facts.ok()) {
    Require(facts->architecture == "clip" && facts->file_bytes == bytes.size());
  } else {
    Require(absl::IsInvalidArgument(facts.status()) && !facts.status().message().empty());
  }
}

}  // namespace superfluid::fuzz
