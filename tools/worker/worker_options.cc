#include "tools/worker/worker_options.h"

#include <grp.h>

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <sstream>

#include "CLI/CLI.hpp"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "engine/options/option_text.h"
#include "protocol/messages/version.h"
#include "tools/version.h"
#include "tools/worker/option_checks.h"

namespace superfluid {
namespace {

constexpr const char* kFooter = R"(
The worker hosts one engine and serves one daemon (the driver) over Link W; any number of observers
may look at it meanwhile. Give it sockets in one of two ways:
  --listen PATH                  it creates the socket (mode 0600) and serves one driver after another
  --frames-fd N --fds-fd M       it inherits connected sockets and ends with that link
Without either it takes the one socket that systemd hands over (LISTEN_FDS, a .socket unit). To systemd
it tells its start, its end, and its progress (NOTIFY_SOCKET, WATCHDOG_USEC).

Examples:
  superfluid_worker --listen /run/user/1000/sf.sock
  superfluid_worker --engine sim --engine-option segments=5 --listen /tmp/sim.sock
  superfluid_worker --listen /tmp/sf.sock --media-root /srv/audio --log-level debug
  superfluid_worker --engine whisper --engine-option help

Signals:
  SIGTERM   drain: refuse new work, finish what is open for --drain-ms, then exit with 0
  SIGHUP    the same, unless it was ignored at the start (nohup)
  SIGINT    cancel what is open and exit with 0
  A second signal cancels without waiting for it; a third ends the process at once, with 128 + its
  number (143 for SIGTERM).
  While the engine is still being loaded any of them ends the process at once, with 0.

The worker listens while it loads its engine: it answers PING (superfluidctl ping), and a client that
connects waits (superfluidctl --wait says how far it is).

Exit codes:
  0   ended as told (a signal, the link of inherited sockets, --on-disconnect exit); what was open at
      SIGTERM was finished
  1   could not start: socket, descriptor, media root or model root
  2   the command line is wrong
  3   the engine or its model could not be loaded
  70  the engine or a part of the worker failed
  71  the engine was stuck inside a step for longer than --engine-kill-ms and could not be stopped
  75  ended as told, but what was open at SIGTERM was cancelled, after --drain-ms or by a second signal
  134 as 71, with a report, a stack of the engine's thread and a core (SIGABRT); other crashes end
      with 128 + the signal's number, and leave the same report

Environment:
  SUPERFLUID_ENGINE_PATH   folders with engines, separated by colons

Logs go to standard error, one line an event: time, level, then event.name key=value ...; with
--log-format json an object of the same: time, level, event, and the keys. Nobody has to read them:
lines that nobody takes are dropped, and counted)";

constexpr mode_t kGroupMode = 0660;
constexpr uint64_t kMostMode = 0777;
constexpr int64_t kMostDescriptors = 1 << 20;
constexpr int64_t kDayMs = 86'400'000;
constexpr char kMilliseconds[] = "of milliseconds";
constexpr LogStyle kJsonStyle = {.format = LogFormat::kJson, .worker = {}};

// The values as CLI11 fills them in.
struct Raw {
  std::string socket_mode;
  std::string socket_group;
  std::string on_disconnect = "keep-cache";
  std::string sandbox = "off";
  std::string log_format = "logfmt";
  std::vector<std::string> engine_options;
  int64_t drain_ms = 30'000;
  int64_t step_ms = 10;
  int64_t stall_ms = 1'000;
  int64_t kill_ms = 30'000;
};

void AddEngineOptions(CLI::App& app, WorkerOptions& options, Raw& raw) {
  app.add_option("--engine", options.engine, "Engine: a bundled one's name, or path/to/plugin.so")
      ->capture_default_str();
  app.add_option("--engine-dir", options.engine_dirs,
                 "Folder to look for named engines in, before the usual ones (repeatable)");
  app.add_option("--model", options.engine_config.model_path,
                 "Model file or folder; default: the engine's own");
  app.add_option("--engine-option", raw.engine_options,
                 "Option k=v for the engine (repeatable); help: print those that it has, and exit");
  app.add_option("--device", options.engine_config.device,
                 "Accelerator index; an engine that runs on the CPU has none")
      ->capture_default_str()
      ->check(WholeNumber(0, 1023));
  app.add_option(
         "--threads", options.engine_config.threads,
         "Compute threads of the engine, at most the CPUs that the process may use; 0: as many as "
         "those")
      ->capture_default_str()
      ->check(WholeNumber(0, 4096));
}

void AddLinkOptions(CLI::App& app, WorkerOptions& options, Raw& raw) {
  auto* listen = app.add_option("--listen", options.listen_path, "Path of the socket to create");
  auto* frames = app.add_option("--frames-fd", options.frames_fd, "Inherited frames socket")
                     ->check(WholeNumber(0, kMostDescriptors))
                     ->excludes(listen);
  app.add_option("--fds-fd", options.fds_fd, "Inherited descriptor socket")
      ->check(WholeNumber(0, kMostDescriptors))
      ->needs(frames)
      ->excludes(listen);
  app.add_option("--allow-uid", options.allowed_uids,
                 "Number of a user allowed to connect besides the worker's own (repeatable)")
      ->check(WholeNumber(0, std::numeric_limits<uid_t>::max() - 1, "of a user"));
  app.add_option("--socket-mode", raw.socket_mode,
                 "Permissions of the socket, such as 0660: who may connect, if no --allow-uid is "
                 "given")
      ->type_name("MODE")
      ->needs(listen);
  app.add_option(
         "--socket-group", raw.socket_group,
         "Group of the socket, whose members may connect (mode 0660, unless told otherwise)")
      ->type_name("GROUP")
      ->needs(listen);
  app.add_option("--media-root", options.media_root,
                 "Folder that recordings and images named by a daemon must lie in")
      ->capture_default_str()
      ->check(AbsolutePath());
  app.add_option("--model-root", options.model_root,
                 "Folder that adapters and strategy artifacts named by a daemon must lie in")
      ->capture_default_str()
      ->check(AbsolutePath());
  app.add_option("--on-disconnect", raw.on_disconnect,
                 "When the driver's link ends: keep-cache (stay warm), reset (drop caches), exit")
      ->capture_default_str()
      ->check(OneOf({"keep-cache", "reset", "exit"}));
  app.add_option("--max-transcriptions", options.max_transcriptions,
                 "Transcriptions open on a link, waiting ones included; more are answered BUSY")
      ->capture_default_str()
      ->check(WholeNumber(1, 65536));
}

void AddProcessOptions(CLI::App& app, WorkerOptions& options, Raw& raw) {
  app.add_option("--log-level", options.log.level, "Least level of what is logged")
      ->capture_default_str()
      ->check(OneOf({"trace", "debug", "info", "warn", "error", "off"}));
  app.add_option("--log-format", raw.log_format,
                 "Lines as event.name key=value ... (logfmt), or as JSON objects (json)")
      ->capture_default_str()
      ->check(OneOf({"logfmt", "json"}));
  app.add_option("--log-name", options.log.name,
                 "Name that every line of the log ends with, as worker=NAME")
      ->check(PlainName());
  app.add_option("--sandbox", raw.sandbox,
                 "What the process gives up once its engine is loaded: nothing (off); programs, "
                 "sockets, writing to files, executable memory (cpu); the same, but for what the "
                 "driver of an accelerator needs (device)")
      ->capture_default_str()
      ->check(OneOf({"off", "cpu", "device"}));
  app.add_option("--drain-ms", raw.drain_ms, "How long SIGTERM lets open work finish")
      ->capture_default_str()
      ->check(WholeNumber(0, kDayMs, kMilliseconds));
  app.add_option("--step-ms", raw.step_ms, "Target length of one engine micro-step")
      ->capture_default_str()
      ->check(WholeNumber(1, 1000, kMilliseconds));
  app.add_option(
         "--engine-stall-ms", raw.stall_ms,
         "A longer step is reported as a stall, if it is longer than 2 that the engine expects")
      ->capture_default_str()
      ->check(WholeNumber(1, kDayMs, kMilliseconds));
  app.add_option("--engine-kill-ms", raw.kill_ms,
                 "A longer step ends the process, with a report, if it is longer than 5 that the "
                 "engine expects")
      ->capture_default_str()
      ->check(WholeNumber(1, kDayMs, kMilliseconds));
}

OnDisconnect ParseOnDisconnect(const std::string& text) {
  if (text == "reset") return OnDisconnect::kReset;
  return text == "exit" ? OnDisconnect::kExit : OnDisconnect::kKeepCache;
}

SandboxProfile ParseSandbox(const std::string& text) {
  if (text == "cpu") return SandboxProfile::kCpu;
  return text == "device" ? SandboxProfile::kDevice : SandboxProfile::kOff;
}

// The number of a group that has this name or number.
std::optional<gid_t> GroupNamed(const std::string& name) {
  uint32_t number = 0;
  if (absl::SimpleAtoi(name, &number)) return number;
  const group* const found = getgrnam(name.c_str());  // NOLINT(concurrency-mt-unsafe): one thread
  return found == nullptr ? std::nullopt : std::optional(found->gr_gid);
}

// Errors: the text, for the user.
std::optional<std::string> FinishSocket(const Raw& raw, WorkerOptions& options) {
  if (!raw.socket_group.empty()) {
    options.socket_group = GroupNamed(raw.socket_group);
    if (!options.socket_group) {
      return absl::StrCat("--socket-group '", raw.socket_group, "': there is no such group");
    }
    options.socket_mode = kGroupMode;
  }
  if (!raw.socket_mode.empty()) {
    const bool digits = raw.socket_mode.find_first_not_of("01234567") == std::string::npos;
    const uint64_t mode =
        digits ? std::strtoull(raw.socket_mode.c_str(), nullptr, 8) : kMostMode + 1;
    if (mode > kMostMode) {
      return absl::StrCat("--socket-mode '", raw.socket_mode,
                          "' is not octal permissions from 0 to 0777");
    }
    options.socket_mode = static_cast<mode_t>(mode);
  }
  return std::nullopt;
}

// Errors: the text, for the user.
std::optional<std::string> FinishActivated(const std::vector<int>& activated,
                                           WorkerOptions& options) {
  if (activated.empty()) return std::nullopt;
  if (activated.size() > 1) return "more than one socket was handed over (LISTEN_FDS); one is used";
  if (!options.listen_path.empty() || options.frames_fd >= 0) {
    return "a socket was handed over (LISTEN_FDS): give neither --listen nor --frames-fd";
  }
  options.activated_fd = activated.front();
  return std::nullopt;
}

// Errors: the text, for the user.
std::optional<std::string> Finish(const Raw& raw, const std::vector<int>& activated,
                                  WorkerOptions& options) {
  for (const std::string& option : raw.engine_options) {
    if (option == kHelpOption) {
      options.asks_for_engine_options = true;
      return std::nullopt;
    }
    const size_t equals = option.find('=');
    if (equals == std::string::npos || equals == 0) {
      return absl::StrCat("--engine-option '", option, "' is not of the form key=value");
    }
    options.engine_config.options.emplace_back(option.substr(0, equals), option.substr(equals + 1));
  }
  if (auto wrong = FinishSocket(raw, options)) return wrong;
  if (auto wrong = FinishActivated(activated, options)) return wrong;
  if (options.listen_path.empty() && options.frames_fd < 0 && options.activated_fd < 0) {
    return "no socket given: use --listen PATH, or --frames-fd N with --fds-fd M";
  }
  if (options.frames_fd >= 0 && options.frames_fd == options.fds_fd) {
    return "--frames-fd and --fds-fd must be two descriptors";
  }
  options.on_disconnect = ParseOnDisconnect(raw.on_disconnect);
  options.sandbox = ParseSandbox(raw.sandbox);
  options.log.format = raw.log_format == "json" ? LogFormat::kJson : LogFormat::kLogfmt;
  options.drain_patience = absl::Milliseconds(raw.drain_ms);
  options.step_budget = absl::Milliseconds(raw.step_ms);
  options.engine_stall = absl::Milliseconds(raw.stall_ms);
  options.engine_kill = absl::Milliseconds(raw.kill_ms);
  return std::nullopt;
}

std::variant<WorkerOptions, ParseExit> Parse(int argc, const char* const* argv,
                                             const std::vector<int>& activated) {
  WorkerOptions options;
  Raw raw;
  CLI::App app("Inference worker: hosts one engine and serves a daemon over Link W.",
               "superfluid_worker");
  app.set_version_flag("--version", WorkerVersion());
  app.footer(kFooter);
  AddEngineOptions(app, options, raw);
  AddLinkOptions(app, options, raw);
  AddProcessOptions(app, options, raw);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;
    std::ostringstream err;
    const int code = app.exit(error, out, err) == 0 ? 0 : 2;
    return ParseExit{.code = code, .out = out.str(), .err = err.str()};
  }
  if (std::optional<std::string> wrong = Finish(raw, activated, options)) {
    return ParseExit{.code = 2,
                     .out = {},
                     .err = absl::StrCat(*wrong, "\nRun with --help for more information.\n")};
  }
  return options;
}

}  // namespace

std::string WorkerVersion() {
  return absl::StrCat("superfluid_worker ", kSuperfluidVersion, " (Link W ", linkw::kProtoVersion,
                      ")");
}

std::variant<WorkerOptions, ParseExit> ParseWorkerOptions(int argc, const char* const* argv,
                                                          const std::vector<int>& activated) {
  auto parsed = Parse(argc, argv, activated);
  auto* const exit = std::get_if<ParseExit>(&parsed);
  if (exit != nullptr && exit->code != 0 && AsksForJsonLog(argc, argv)) {
    const std::string first_line = exit->err.substr(0, exit->err.find('\n'));
    exit->err = LogLine("error", "worker.cannot_start").Text("error", first_line).End(kJsonStyle);
  }
  return parsed;
}

}  // namespace superfluid
