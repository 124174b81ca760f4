#include "engine/sim/sim_adapter.h"

#include "engine/sim/sim_files.h"

namespace superfluid {

absl::StatusOr<AdapterId> SimAdapter::Load(const std::string& path) {
  const absl::StatusOr<SimFile> file = ReadSimFile(path, kSimMaxAdapterBytes);
  if (!file.ok()) return file.status();
  current_ = {handles_.Next<AdapterId>(), file->fingerprint};
  bytes_ = file->bytes;
  return current_.id;
}

void SimAdapter::Unload() {
  current_ = {};
  bytes_ = 0;
}

}  // namespace superfluid
