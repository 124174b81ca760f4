// A model's file as the engine whisper looks at it: of speech, and of voice activity.

#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/whisper/model_file.h"
#include "shm/owned_fd.h"
#include "tests/fuzz/target.h"

namespace superfluid::fuzz {

void FuzzOne(std::string_view bytes) {
  const OwnedFd file(memfd_create("ggml", MFD_CLOEXEC));
  Require(file.get() >= 0);
  Require(write(file.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  const std::string path = absl::StrCat("/proc/self/fd/", file.get());
  const auto model = CheckWhisperModel(path);
  if (model.ok()) {
    // All that the library allocates by: 51864 tokens at least, each a row of the width.
    Require(model->bytes == bytes.size() && model->vocabulary >= 51864);
    Require(model->audio_width % model->audio_heads == 0);
  } else {
    Require(absl::IsInvalidArgument(model.status()) && !model.status().message().empty());
  }
  const absl::Status activity = CheckVadModel(path);
  Require(!(model.ok() && activity.ok()));
  Require(activity.ok() || absl::IsInvalidArgument(activity));
}

}  // namespace superfluid::fuzz
