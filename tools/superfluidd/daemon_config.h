#ifndef SUPERFLUID_TOOLS_SUPERFLUIDD_DAEMON_CONFIG_H_
#define SUPERFLUID_TOOLS_SUPERFLUIDD_DAEMON_CONFIG_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tools/superfluidd/api/api_keys.h"
#include "tools/superfluidd/fleet/fleet.h"

namespace superfluid::daemon {

// A model that is served, and the workers that serve it.
struct ModelConfig {
  std::string name;                  // that clients use; empty: the engine's name
  std::vector<std::string> aliases;  // "*" stands for any other name
  std::string engine = "pocketsphinx";
  std::string path;  // of the model; empty: the engine's own
  std::vector<std::pair<std::string, std::string>> options;  // of the engine
  std::string devices = "auto";  // "auto", "0,1" (accelerators), "cpu:2" (workers on the CPU)
  uint32_t threads = 0;
  uint32_t places = 0;  // requests of a worker at once; 0: as many as the engine takes
  std::vector<std::vector<int>> cpus;  // of each worker; empty: all
};

// Everything that the command line and the file say, checked as far as it can be without the
// system.
struct DaemonConfig {
  std::vector<std::string> listen = {"127.0.0.1:8080"};
  std::string tls_certificate;  // for all addresses but "unix:..."; both or none
  std::string tls_key;
  std::string worker_program;  // empty: the one beside this program
  std::vector<std::string> engine_dirs;
  std::vector<ModelConfig> models;
  std::vector<ApiKey> keys;
  uint64_t max_upload_bytes = uint64_t{512} << 20;
  uint64_t upload_memory_bytes = uint64_t{2} << 30;  // of all uploads together
  size_t max_waiting = 256;
  size_t max_waiting_of_key = 256;
  absl::Duration max_deadline = absl::Hours(24);
  absl::Duration drain = absl::Seconds(30);
  std::string log_level = "info";     // of workers
  std::string log_format = "logfmt";  // or "json": of the daemon's events, and of workers
};

// Returns the workers that the models want, in order. `accelerators`: how many this machine has,
// for "auto"; `cpus`: that this process may use. Errors: InvalidArgument, with what is wrong.
absl::StatusOr<std::vector<FleetWorker>> WorkersOf(const DaemonConfig& config, size_t accelerators,
                                                   size_t cpus);

// What log_level and log_format may be.
std::vector<std::string> LogLevels();
std::vector<std::string> LogFormats();

// Returns the name that clients use for a model.
std::string NameOf(const ModelConfig& model);

}  // namespace superfluid::daemon

#endif  // SUPERFLUID_TOOLS_SUPERFLUIDD_DAEMON_CONFIG_H_
