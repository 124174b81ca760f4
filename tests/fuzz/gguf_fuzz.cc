// A model's file: its header, and that all it names lies within it.

#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/call_control.h"
#include "engine/llama/gguf_check.h"
#include "shm/owned_fd.h"
#include "tests/fuzz/target.h"

namespace superfluid::fuzz {

void FuzzOne(std::string_view bytes) {
  const OwnedFd file(memfd_create("gguf", MFD_CLOEXEC));
  Require(file.get() >= 0);
  Require(write(file.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  const std::string path = absl::StrCat("/proc/self/fd/", file.get());
  const auto facts = CheckGguf(path);
  if (!facts.ok()) {
    Require(absl::IsInvalidArgument(facts.status()) && !facts.status().message().empty());
    return;
  }
  Require(facts->file_bytes == bytes.size());
  for (const GgufFacts::Tensor& tensor : facts->tensors) {
    Require(tensor.start <= bytes.size() && tensor.bytes <= bytes.size() - tensor.start);
  }
  const absl::Status tensors = CheckGgufTensors(path, *facts, CallControl()).status();
  Require(tensors.ok() || absl::IsInvalidArgument(tensors));
}

}  // namespace superfluid::fuzz
