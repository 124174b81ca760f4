#ifndef SUPERFLUID_TOOLS_SUPERFLUIDD_DAEMON_OPTIONS_H_
#define SUPERFLUID_TOOLS_SUPERFLUIDD_DAEMON_OPTIONS_H_

#include <string>
#include <variant>

#include "tools/superfluidd/daemon_config.h"

namespace superfluid::daemon {

struct DaemonOptions {
  DaemonConfig config;
  std::string config_file;    // empty: none
  bool check_config = false;  // and leave
};

// The command line said it all (--help, --version) or was wrong: print and leave.
struct ParseExit {
  int code = 0;
  std::string out;
  std::string err;
};

// Reads the file that --config names too; what the command line says counts more.
std::variant<DaemonOptions, ParseExit> ParseDaemonOptions(int argc, const char* const* argv);

// Returns the worker beside this program: in its folder, or where Bazel puts it. Empty: there is
// none.
std::string FindWorker(const std::string& this_program);

}  // namespace superfluid::daemon

#endif  // SUPERFLUID_TOOLS_SUPERFLUIDD_DAEMON_OPTIONS_H_
