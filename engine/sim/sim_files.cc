#include "engine/sim/sim_files.h"

#include <fstream>
#include <ios>

#include "absl/strings/str_cat.h"
#include "engine/sampling/mix.h"

namespace superfluid {

absl::StatusOr<SimFile> ReadSimFile(const std::string& path, size_t most) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes(most + 1, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  // A folder opens but does not read.
  if (!file.is_open() || file.bad()) return absl::NotFoundError("the file cannot be read");
  bytes.resize(static_cast<size_t>(file.gcount()));
  if (bytes.empty() || bytes.size() > most) {
    return absl::InvalidArgumentError(absl::StrCat("the file has not 1 to ", most, " bytes"));
  }
  return SimFile{bytes.size(), MixBytes(bytes, /*seed=*/0) | 1U};
}

}  // namespace superfluid
