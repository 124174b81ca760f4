// Compares a worker on a device with one on the CPU, and measures it. See --help.

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <variant>

#include "tests/conformance/check.h"
#include "tests/device/probe_options.h"
#include "tests/device/probe_worker.h"
#include "tests/device/probes.h"

namespace superfluid::device {
namespace {

bool RunProbes(const ProbeOptions& options, const std::string& folder) {
  ProbeWorker device(options.worker, folder, "device");
  bool passed = options.backend.empty() || CheckBackend(device, options.backend);
  if (!options.reference.empty() || options.measure) device.NeedTicks();
  if (!options.reference.empty()) {
    ProbeWorker cpu(options.reference, folder, "cpu");
    cpu.NeedTicks();
    passed = CompareDraws(device, cpu, options) && passed;
  }
  if (options.measure) passed = MeasureSpeed(device, options) && passed;
  return passed;
}

void PrintLogs(const std::string& folder) {
  for (const char* const name : {"/device.log", "/cpu.log"}) {
    std::ifstream log(folder + name);
    const std::string text{std::istreambuf_iterator<char>(log), {}};
    if (!text.empty()) std::fprintf(stderr, "--- %s\n%s", name + 1, text.c_str());
  }
}

int Run(const ProbeOptions& options) {
  std::string folder = "/tmp/sfd-XXXXXX";  // short: a socket's path has 107 bytes
  if (mkdtemp(folder.data()) == nullptr) return 1;
  bool passed = false;
  try {
    passed = RunProbes(options, folder);
  } catch (const conformance::Failed& failed) {
    std::printf("check\tthe worker answers\tFAIL\t%s\n", failed.what());
  }
  if (!passed) PrintLogs(folder);
  std::filesystem::remove_all(folder);
  return passed ? 0 : 1;
}

int Main(int argc, const char* const* argv) {
  const auto parsed = ParseProbeOptions(argc, argv);
  if (const auto* leave = std::get_if<Leave>(&parsed)) {
    std::fputs(leave->out.c_str(), stdout);
    std::fputs(leave->err.c_str(), stderr);
    return leave->code;
  }
  return Run(std::get<ProbeOptions>(parsed));
}

}  // namespace
}  // namespace superfluid::device

int main(int argc, char** argv) { return superfluid::device::Main(argc, argv); }
