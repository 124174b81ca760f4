#ifndef SUPERFLUID_TOOLS_WORKER_WORKER_OPTIONS_H_
#define SUPERFLUID_TOOLS_WORKER_WORKER_OPTIONS_H_

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "actors/supervision/supervisor.h"
#include "engine/engine.h"
#include "tools/worker/log_line.h"
#include "tools/worker/sandbox.h"

namespace superfluid {

// What the command line of superfluid_worker asks for, checked as far as it can be without touching
// the system.
struct WorkerOptions {
  std::string engine = "pocketsphinx";   // a name, or the path of a library
  std::vector<std::string> engine_dirs;  // searched before the default ones
  EngineConfig engine_config;
  bool asks_for_engine_options = false;  // and for nothing else
  std::string listen_path;               // empty: inherited sockets are used
  int frames_fd = -1;
  int fds_fd = -1;
  int activated_fd = -1;              // a socket that listens already, of a service manager
  std::optional<mode_t> socket_mode;  // of the file at listen_path
  std::optional<gid_t> socket_group;  // the process's own, unless given
  std::vector<uid_t> allowed_uids;    // besides the worker's own
  std::string media_root = "/";       // bounds the recordings and images that a daemon names
  std::string model_root = "/";       // the same for adapters and strategy artifacts
  LogOptions log;
  OnDisconnect on_disconnect = OnDisconnect::kKeepCache;
  absl::Duration drain_patience = absl::Seconds(30);
  absl::Duration step_budget = absl::Milliseconds(10);
  absl::Duration engine_stall = absl::Seconds(1);
  absl::Duration engine_kill = absl::Seconds(30);
  uint32_t max_transcriptions = 256;
  SandboxProfile sandbox = SandboxProfile::kOff;
};

// The command line said it all (--help, --version) or was wrong: print and leave.
struct ParseExit {
  int code = 0;
  std::string out;  // for standard output
  std::string err;  // for standard error
};

// `activated`: the sockets of TakeActivatedSockets. What is wrong is said as a line of the log if
// that is to be JSON.
std::variant<WorkerOptions, ParseExit> ParseWorkerOptions(int argc, const char* const* argv,
                                                          const std::vector<int>& activated = {});

// "superfluid_worker 0.1.0 (Link W 8)"
std::string WorkerVersion();

}  // namespace superfluid

#endif  // SUPERFLUID_TOOLS_WORKER_WORKER_OPTIONS_H_
