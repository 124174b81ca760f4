// bench: measures the worker beside what else could carry ticks, in one run. See README.md.

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "tools/bench/effort.h"
#include "tools/bench/fleet.h"
#include "tools/bench/host.h"
#include "tools/bench/race.h"
#include "tools/bench/report.h"
#include "tools/bench/response.h"
#include "tools/bench/upkeep.h"
#include "tools/version.h"

namespace superfluid::bench {
namespace {

struct Options {
  bool quick = false;
  int requests = 0;  // 0: as many as the effort has
  std::string only;  // empty: everything
  std::string json;
  std::string plot;
  std::string serve;
  std::string socket;
};

double Percent(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

// What the machine is, and how busy before we are.
Report LookAround() {
  Report report;
  report.version = kSuperfluidVersion;
  report.kernel = KernelName();
  report.cpu = CpuName();
  report.cpus = AllowedCpus();
  const CpuTimes before = ReadCpuTimes();
  absl::SleepFor(absl::Seconds(1));
  const CpuTimes after = ReadCpuTimes();
  const uint64_t all = after.total - before.total;
  report.others_percent = Percent(all - std::min(all, after.idle - before.idle), all);
  return report;
}

absl::Status Measure(const Effort& effort, const std::string& only, Report& report) {
  const CpuTimes before = ReadCpuTimes();
  const auto wanted = [&only](const char* part) { return only.empty() || only == part; };
  absl::Status status;
  if (wanted("race")) status = Race(effort, report);
  if (status.ok() && wanted("upkeep")) status = MeasureUpkeep(effort, report);
  if (status.ok() && wanted("response")) status = MeasureResponse(effort, report);
  const CpuTimes after = ReadCpuTimes();
  report.steal_percent = Percent(after.steal - before.steal, after.total - before.total);
  return status;
}

// A relative path is one of the folder in which `bazel run` was typed.
bool WriteFile(const std::string& path, const std::string& text) {
  if (path.empty()) return true;
  const char* const typed_in = std::getenv("BUILD_WORKING_DIRECTORY");
  std::filesystem::path file(path);
  if (typed_in != nullptr) file = std::filesystem::path(typed_in) / file;
  std::ofstream stream(file, std::ios::binary);
  stream << text << std::flush;
  if (!stream) std::fprintf(stderr, "bench: cannot write %s\n", file.c_str());
  return static_cast<bool>(stream);
}

int Run(const Options& options) {
  if (!options.serve.empty()) {
    const absl::Status status = ServePeer(options.serve, options.socket);
    std::fprintf(stderr, "bench: %s\n", status.ToString().c_str());
    return 1;
  }
  Report report = LookAround();
  report.quick = options.quick;
  Effort effort = options.quick ? kQuickEffort : kFullEffort;
  if (options.requests > 0) effort.requests = options.requests;
  const absl::Status status = Measure(effort, options.only, report);
  if (!status.ok()) {
    std::fprintf(stderr, "bench: %s\n", status.ToString().c_str());
    return 1;
  }
  std::fputs(TableOf(report).c_str(), stdout);
  const bool json = WriteFile(options.json, JsonOf(report));
  const bool plot = WriteFile(options.plot, SvgOf(report));
  return json && plot ? 0 : 1;
}

}  // namespace
}  // namespace superfluid::bench

int main(int argc, char** argv) {
  superfluid::bench::Options options;
  CLI::App app("Measures superfluid_worker beside its peers, in ratios of one run.", "bench");
  app.add_flag("--quick", options.quick, "a rough picture within two minutes");
  app.add_option("--json", options.json, "write the whole report to this file");
  app.add_option("--plot", options.plot, "draw the figures beside their targets, as SVG");
  app.add_option("--requests", options.requests, "so many requests with deadlines for what grows");
  app.add_option("--only", options.only, "one part of what is measured")
      ->check(CLI::IsMember({"race", "upkeep", "response"}));
  app.add_option("--serve", options.serve, "be a peer of this kind (used by bench itself)");
  app.add_option("--socket", options.socket, "the socket of that peer");
  CLI11_PARSE(app, argc, argv);
  return superfluid::bench::Run(options);
}
