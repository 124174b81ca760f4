#include "tools/superfluidd/daemon_options.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>
#include <sstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/superfluidd/config_file.h"
#include "tools/version.h"
#include "tools/worker/log_line.h"

namespace superfluid::daemon {
namespace {

constexpr const char* kFooter = R"(
The daemon starts workers, keeps them running, and offers them as an OpenAI-compatible API for speech:
  curl -F file=@talk.flac -F model=whisper-1 ADDRESS/v1/audio/transcriptions

Signals:
  SIGTERM   drain: refuse new requests, finish what is open for --drain-ms, then exit with 0
  SIGINT    cancel what is open and exit with 0
  SIGHUP    read the file of --config again: models, keys and the limits of requests change, and
            workers are replaced one after the other, without a dropped request
  A second signal cancels without waiting; a third ends the process at once.

Exit codes:
  0   ended as told; what was open at SIGTERM was finished
  1   could not start: an address, a certificate, the worker's program
  2   the command line or the file of --config is wrong
  75  ended as told, but what was open at SIGTERM was cancelled, after --drain-ms or by a second signal

To systemd it tells its start, reloads, its end, and its progress (NOTIFY_SOCKET, WATCHDOG_USEC).

Logs go to standard error, one line an event (logfmt, or with --log-format json a JSON object); the
access log, one JSON object a line, to standard output. Nobody has to read them: lines that nobody
takes are dropped, and counted)";

constexpr uint64_t kMiB = uint64_t{1} << 20;

// The values as CLI11 fills them in.
struct Raw {
  explicit Raw(const DaemonConfig& config)
      : max_upload_mb(config.max_upload_bytes / kMiB),
        upload_memory_mb(config.upload_memory_bytes / kMiB),
        drain_ms(absl::ToInt64Milliseconds(config.drain)) {}

  ModelConfig model;
  std::vector<std::string> engine_options;
  uint64_t max_upload_mb;
  uint64_t upload_memory_mb;
  int64_t drain_ms;
  bool names_model = false;  // an option of the model was given
};

void AddModelOptions(CLI::App& app, Raw& raw) {
  app.add_option("--engine", raw.model.engine,
                 "Engine of the workers: a bundled one's name, or a "
                 "plug-in's library")
      ->capture_default_str();
  app.add_option("--model", raw.model.path, "Model file or folder; default: the engine's own");
  app.add_option("--model-name", raw.model.name,
                 "Name of the model for clients; default: the engine's. Any other is taken for it");
  app.add_option("--engine-option", raw.engine_options, "Option k=v for the engine (repeatable)");
  app.add_option("--devices", raw.model.devices,
                 "A worker for each: auto, accelerators as 0,1, or cpu:N")
      ->capture_default_str();
  app.add_option("--threads", raw.model.threads,
                 "Compute threads of each worker; 0: as many as the CPUs it may use");
  app.add_option("--places", raw.model.places,
                 "Requests of a worker at once; 0: as many as its engine takes");
}

void AddServerOptions(CLI::App& app, DaemonConfig& config, Raw& raw) {
  app.add_option("--listen", config.listen,
                 "Address: HOST:PORT (port 0: any), [HOST]:PORT or unix:PATH (repeatable)")
      ->capture_default_str();
  app.add_option("--tls-cert", config.tls_certificate, "Certificate chain in PEM, for TLS");
  app.add_option("--tls-key", config.tls_key, "Its key in PEM");
  app.add_option("--worker", config.worker_program,
                 "superfluid_worker; default: the one beside this program");
  app.add_option("--engine-dir", config.engine_dirs,
                 "Folder in which workers look for engines first (repeatable)");
  app.add_option("--max-upload-mb", raw.max_upload_mb, "Largest body of a request")
      ->capture_default_str();
  app.add_option("--upload-memory-mb", raw.upload_memory_mb, "Memory of all uploads together")
      ->capture_default_str();
  app.add_option("--max-waiting", config.max_waiting, "Requests that may wait; more get 429")
      ->capture_default_str();
  app.add_option("--drain-ms", raw.drain_ms, "How long SIGTERM lets open requests finish")
      ->capture_default_str();
  app.add_option("--log-level", config.log_level, "Least level of what workers log")
      ->capture_default_str()
      ->check(CLI::IsMember(LogLevels()));
  app.add_option("--log-format", config.log_format,
                 "Events, and what workers log, as key=value (logfmt) or as JSON objects (json)")
      ->capture_default_str()
      ->check(CLI::IsMember(LogFormats()));
}

// Errors: the text, for the user.
std::optional<std::string> Finish(Raw& raw, DaemonOptions& options) {
  DaemonConfig& config = options.config;
  for (const std::string& option : raw.engine_options) {
    const size_t equals = option.find('=');
    if (equals == std::string::npos || equals == 0) {
      return absl::StrCat("--engine-option '", option, "' is not of the form key=value");
    }
    raw.model.options.emplace_back(option.substr(0, equals), option.substr(equals + 1));
  }
  if (config.tls_certificate.empty() != config.tls_key.empty()) {
    return "--tls-cert and --tls-key go together";
  }
  if (raw.names_model && !options.config_file.empty()) {
    return "with --config the models are the file's: give no option of a model";
  }
  raw.model.aliases = {"*"};
  if (options.config_file.empty()) config.models = {raw.model};
  config.max_upload_bytes = raw.max_upload_mb * kMiB;
  config.upload_memory_bytes = raw.upload_memory_mb * kMiB;
  config.drain = absl::Milliseconds(raw.drain_ms);
  return std::nullopt;
}

}  // namespace

namespace {

ParseExit WrongUsage(const std::string& what) {
  return {
      .code = 2, .out = {}, .err = absl::StrCat(what, "\nRun with --help for more information.\n")};
}

// Reads the command line over what `options` has already.
std::optional<ParseExit> ParseOver(int argc, const char* const* argv, DaemonOptions& options) {
  Raw raw(options.config);
  CLI::App app("Speech daemon: an OpenAI-compatible API over supervised workers.", "superfluidd");
  app.set_version_flag("--version", absl::StrCat("superfluidd ", kSuperfluidVersion));
  app.footer(kFooter);
  AddModelOptions(app, raw);
  AddServerOptions(app, options.config, raw);
  app.add_option("--config", options.config_file, "TOML file with everything; see README.md");
  app.add_flag("--check-config", options.check_config,
               "Only say whether the configuration is good");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;
    std::ostringstream err;
    const int code = app.exit(error, out, err) == 0 ? 0 : 2;
    return ParseExit{.code = code, .out = out.str(), .err = err.str()};
  }
  for (const char* name : {"--engine", "--model", "--model-name", "--engine-option", "--devices",
                           "--threads", "--places"}) {
    raw.names_model |= app.get_option(name)->count() > 0;
  }
  if (std::optional<std::string> wrong = Finish(raw, options)) return WrongUsage(*wrong);
  return std::nullopt;
}

std::variant<DaemonOptions, ParseExit> Parse(int argc, const char* const* argv) {
  DaemonOptions given;
  if (auto exit = ParseOver(argc, argv, given)) return *std::move(exit);
  if (given.config_file.empty()) return given;
  DaemonOptions options;
  if (absl::Status status = ReadConfigFile(given.config_file, options.config); !status.ok()) {
    return ParseExit{.code = 2, .out = {}, .err = absl::StrCat(status.message(), "\n")};
  }
  if (auto exit = ParseOver(argc, argv, options)) return *std::move(exit);
  return options;
}

}  // namespace

std::variant<DaemonOptions, ParseExit> ParseDaemonOptions(int argc, const char* const* argv) {
  auto parsed = Parse(argc, argv);
  auto* const exit = std::get_if<ParseExit>(&parsed);
  if (exit != nullptr && exit->code != 0 && AsksForJsonLog(argc, argv)) {
    const std::string first_line = exit->err.substr(0, exit->err.find('\n'));
    LogLine line("error", "daemon.cannot_start");
    exit->err = line.Text("error", first_line).End({.format = LogFormat::kJson, .worker = {}});
  }
  return parsed;
}

std::string FindWorker(const std::string& this_program) {
  const std::filesystem::path folder = std::filesystem::path(this_program).parent_path();
  for (const std::filesystem::path& place :
       {folder / "superfluid_worker", folder / "../worker/superfluid_worker",
        folder / "../libexec/superfluid/superfluid_worker",
        std::filesystem::path(this_program + ".runfiles/superfluid/tools/worker/superfluid_worker"),
        std::filesystem::path("tools/worker/superfluid_worker")}) {
    std::error_code error;
    if (std::filesystem::is_regular_file(place, error)) {
      return std::filesystem::absolute(place, error).lexically_normal().string();
    }
  }
  return "";
}

}  // namespace superfluid::daemon
