#include "tests/conformance/options.h"

#include <fnmatch.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_split.h"

namespace superfluid::conformance {
namespace {

constexpr const char* kFooter = R"(
A check is named by the sentences of the contract that it is about and a short title. GLOB is matched
with the name and with each id: --only 'FRAME-*', --only '*BUSY*', --skip 'TICK-*,EMIT-*'.

Checks that need slow work (a cancel in the middle of a tick, 17 open ops) run against a worker that
is started with --slow-args as well; for '--engine sim' the suite knows them itself. Without any, or
with --connect and not --slow, these checks are skipped.

Exit codes:
  0   every check passed or was skipped
  1   a check failed
  2   the command line is wrong
  3   there is no worker: it could not be started, or nothing listens
)";

constexpr const char* kSimSlowArgs =
    "--engine-option token_us=2000 --engine-option op_us=300000 --engine-option step_us=3000";

bool IsSim(const std::string& command) {
  return command.find("--engine sim") != std::string::npos ||
         command.find("--engine=sim") != std::string::npos;
}

}  // namespace

std::variant<Options, Leave> ParseOptions(int argc, const char* const* argv) {
  Options options;
  CLI::App app("Checks a worker against the contract of Link W, from outside.", "conformance");
  app.footer(kFooter);
  auto* worker =
      app.add_option("--worker", options.worker, "Command line; --listen PATH is appended to it");
  app.add_option("--connect", options.connect, "Socket of a worker that runs")->excludes(worker);
  app.add_option("--slow-args", options.slow_args, "Arguments that make the worker's work slow");
  app.add_flag("--slow", options.slow, "The worker at --connect was started so");
  app.add_flag("--list", options.list, "Print the names of the checks and leave");
  app.add_option("--only", options.only, "Only these checks (globs, separated by commas)");
  app.add_option("--skip", options.skip, "All but these checks");
  app.add_flag("--text", options.text, "Print every check, not only what failed");
  app.add_option("--junit", options.junit, "Write a JUnit XML report to this file");
  app.add_option("--name", options.name, "Name of the suite in the report");
  app.add_option("--seed", options.seed, "Seed of what the checks choose at random")
      ->capture_default_str();
  app.add_option("--folder", options.folder,
                 "Where files for the worker are made, below its media and model roots");
  app.add_option("--adapter", options.adapter, "A file that the engine takes as an adapter");
  app.add_option("--media", options.media, "A file that the engine takes as media");
  app.add_option("--strategy", options.strategy, "The id of a strategy that the engine takes");
  app.add_flag("--rooted", options.rooted,
               "--folder is the worker's media root and its model root");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;
    std::ostringstream err;
    const int code = app.exit(error, out, err) == 0 ? 0 : 2;
    return Leave{.code = code, .out = out.str(), .err = err.str()};
  }
  if (!options.list && options.worker.empty() && options.connect.empty()) {
    return Leave{.code = 2, .out = {}, .err = "give --worker 'COMMAND' or --connect SOCKET\n"};
  }
  if (options.slow_args.empty() && IsSim(options.worker)) options.slow_args = kSimSlowArgs;
  return options;
}

bool Matches(const std::string& patterns, const std::string& ids, const std::string& name) {
  const std::vector<std::string> globs = absl::StrSplit(patterns, ',', absl::SkipEmpty());
  std::vector<std::string> texts = absl::StrSplit(ids, ' ', absl::SkipEmpty());
  texts.push_back(name);
  return std::any_of(globs.begin(), globs.end(), [&texts](const std::string& glob) {
    return std::any_of(texts.begin(), texts.end(), [&glob](const std::string& text) {
      return fnmatch(glob.c_str(), text.c_str(), 0) == 0;
    });
  });
}

}  // namespace superfluid::conformance
