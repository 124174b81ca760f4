#ifndef SUPERFLUID_TOOLS_SUPERFLUIDD_CONFIG_FILE_H_
#define SUPERFLUID_TOOLS_SUPERFLUIDD_CONFIG_FILE_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "tools/superfluidd/daemon_config.h"

namespace superfluid::daemon {

// Reads a configuration in TOML into `config`; what the file does not say stays as it is. README.md
// lists the keys. Errors: InvalidArgument with "NAME:LINE:COLUMN: what is wrong", for what is no
// TOML, for a key that is unknown, and for a value that is no good; `config` is then unspecified.
absl::Status ReadConfig(std::string_view text, const std::string& name, DaemonConfig& config);

// The same from a file. Errors: NotFound too.
absl::Status ReadConfigFile(const std::string& path, DaemonConfig& config);

}  // namespace superfluid::daemon

#endif  // SUPERFLUID_TOOLS_SUPERFLUIDD_CONFIG_FILE_H_
