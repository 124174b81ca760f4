#include "tests/device/probe_options.h"

#include <sstream>

#include "CLI/CLI.hpp"

namespace superfluid::device {
namespace {

constexpr const char* kFooter = R"(
Each line of standard output is a check or a figure, words separated by tabs:
  check   NAME  pass or FAIL  DETAIL
  figure  NAME  VALUE         UNIT

Exit status: 0 all checks passed; 1 one did not; 2 the command line is wrong)";

}  // namespace

std::variant<ProbeOptions, Leave> ParseProbeOptions(int argc, const char* const* argv) {
  ProbeOptions options;
  CLI::App app("Compares a worker on a device with one on the CPU, and measures it.", "probe");
  app.footer(kFooter);
  app.add_option("--worker", options.worker, "Its command line, without --listen")->required();
  app.add_option("--reference", options.reference,
                 "Command line of a worker on the CPU: both must draw the same");
  app.add_option("--expect-backend", options.backend,
                 "Name that the worker's version must have, such as CUDA");
  app.add_option("--tolerance", options.tolerance,
                 "Tokens whose logits the CPU finds this close may take each other's place")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 100.0));
  app.add_option("--prompts", options.prompts, "How many are compared")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  app.add_flag("--measure", options.measure, "Measure speed and how long a cancel takes");
  app.add_option("--prefill-tokens", options.prefill_tokens, "Of the measured prompt")
      ->capture_default_str()
      ->check(CLI::Range(16, 4096));
  app.add_option("--lanes", options.lanes, "Sequences that are measured together")
      ->capture_default_str()
      ->check(CLI::Range(2, 32));
  app.add_option("--cancels", options.cancels, "How many are measured")
      ->capture_default_str()
      ->check(CLI::Range(1, 10'000));
  app.add_option("--seed", options.seed, "Of the prompts")->capture_default_str();
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

}  // namespace superfluid::device
