// A configuration of superfluidd: it is read, or refused with a text that names the file.

#include <string>

#include "tests/fuzz/target.h"
#include "tools/superfluidd/config_file.h"

namespace superfluid::fuzz {
void FuzzOne(std::string_view bytes) {
  daemon::DaemonConfig config;
  const absl::Status status = daemon::ReadConfig(bytes, "fuzz.toml", config);
  if (!status.ok()) {
    Require(std::string(status.message()).rfind("fuzz.toml", 0) == 0);
    return;
  }
  Require(!config.models.empty());
  (void)daemon::WorkersOf(config, 2, 2);
}

}  // namespace superfluid::fuzz
