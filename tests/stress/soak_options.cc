#include "tests/stress/soak_options.h"

#include <sstream>

#include "CLI/CLI.hpp"

namespace superfluid::stress {
namespace {

constexpr const char* kFooter = R"(
Every link has several loads at once (what the engine serves of them) and ends either with all of it
finished or in the middle. Each answer is held against what the worker answered when it had nothing
else to do. A progress line comes every ten seconds, a table at the end.

Exit status: 0 all was right; 1 something was wrong; 2 the command line is)";

constexpr int kWeek = 7 * 24 * 3600;

}  // namespace

std::variant<SoakOptions, Leave> ParseSoakOptions(int argc, const char* const* argv) {
  SoakOptions options;
  CLI::App app("Drives a worker with mixed load for some time, and checks all that it says.",
               "soak");
  app.footer(kFooter);
  app.add_option("--worker", options.worker, "Its command line, without --listen")->required();
  app.add_option("--recording", options.recordings, "Audio file to transcribe (repeatable)")
      ->check(CLI::ExistingFile);
  app.add_option("--seconds", options.seconds, "How long")
      ->capture_default_str()
      ->check(CLI::Range(1, kWeek));
  app.add_option("--link-seconds", options.link_seconds, "How long a link lives, in the mean")
      ->capture_default_str()
      ->check(CLI::Range(1, 3600));
  app.add_option("--seed", options.seed, "Of what is asked for, and when")->capture_default_str();
  app.add_option("--speech", options.speech, "Transcriptions of files at once")
      ->capture_default_str()
      ->check(CLI::Range(0, 64));
  app.add_option("--live", options.live, "Live transcriptions at once")
      ->capture_default_str()
      ->check(CLI::Range(0, 64));
  app.add_option("--ticks", options.ticks, "Loads of ticks, four sequences each")
      ->capture_default_str()
      ->check(CLI::Range(0, 32));
  app.add_option("--ops", options.ops, "Loads of state ops")
      ->capture_default_str()
      ->check(CLI::Range(0, 8));
  app.add_flag("--greedy", options.greedy,
               "Draw at temperature 0 only: for an engine whose numbers depend a little on what is "
               "computed together");
  app.add_option("--slowest-pong-ms", options.slowest_pong_ms, "When PING is answered too late")
      ->capture_default_str()
      ->check(CLI::Range(1, 600'000));
  app.add_option("--most-growth-mib", options.most_growth_mib,
                 "How much resident memory may grow after the first link")
      ->capture_default_str()
      ->check(CLI::Range(1, 1 << 20));
  app.add_option(
         "--pool-mib", options.pool_mib,
         "By how much what the worker says is allocated may differ from one moment when nothing "
         "is open to another: of engines that fill and empty pools as they like")
      ->capture_default_str()
      ->check(CLI::Range(0, 1 << 20));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;
    std::ostringstream err;
    const int code = app.exit(error, out, err) == 0 ? 0 : 2;
    return Leave{.code = code, .out = out.str(), .err = err.str()};
  }
  return options;
}

}  // namespace superfluid::stress
