// Drives a real worker with mixed load for some time. See --help.

#include <poll.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/conformance/check.h"
#include "tests/conformance/worker.h"
#include "tests/stress/soak.h"
#include "tests/stress/soak_options.h"
#include "tests/stress/tally.h"

namespace superfluid::stress {
namespace {

constexpr absl::Duration kEndPatience = absl::Seconds(120);

// A folder for the run; gone with it.
class TempFolder {
 public:
  TempFolder() {
    std::string pattern = "/tmp/sfs-XXXXXX";  // short: a socket's path has 107 bytes
    path_ = mkdtemp(pattern.data());
  }
  ~TempFolder() { std::filesystem::remove_all(path_); }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

void PrintLog(const std::string& path) {
  constexpr std::streamoff most = 16384;
  std::ifstream log(path, std::ios::binary | std::ios::ate);
  if (!log) return;
  const std::streamoff size = log.tellg();
  log.seekg(size > most ? size - most : 0);
  const std::string text{std::istreambuf_iterator<char>(log), {}};
  std::fprintf(stderr, "--- the end of the worker's log\n%s", text.c_str());
}

// The worker ends by itself, with exit code 0.
void ExpectEnd(conformance::Process& process, Tally& tally) {
  const absl::Time until = absl::Now() + kEndPatience;
  while (process.Running() && absl::Now() < until) poll(nullptr, 0, 20);
  if (process.Running()) return tally.Fail("the worker did not end when it was told to");
  if (process.End() != "exit code 0") tally.Fail("the worker ended with " + process.End());
}

int RunSoak(const SoakOptions& options) {
  const TempFolder folder;
  const std::string socket = folder.path() + "/w.sock";
  const std::string log = folder.path() + "/log";
  std::vector<std::string> command = conformance::SplitCommand(options.worker);
  command.insert(command.end(), {"--listen", socket});
  Tally tally;
  try {
    conformance::Process process(command, log);
    std::printf("seed %llu\n", static_cast<unsigned long long>(options.seed));
    Soak soak(options, socket, process.pid(), folder.path(), tally);
    soak.Run();
    if (!process.Running()) {
      tally.Fail("the worker died: " + process.End());
    } else {
      soak.ShutDown();
      ExpectEnd(process, tally);
    }
  } catch (const conformance::Failed& failed) {
    tally.Fail(failed.what());
  }
  std::printf("%s", tally.Summary().c_str());
  if (tally.failed()) PrintLog(log);
  return tally.failed() ? 1 : 0;
}

int Main(int argc, const char* const* argv) {
  const auto parsed = ParseSoakOptions(argc, argv);
  if (const auto* leave = std::get_if<Leave>(&parsed)) {
    std::fputs(leave->out.c_str(), stdout);
    std::fputs(leave->err.c_str(), stderr);
    return leave->code;
  }
  return RunSoak(std::get<SoakOptions>(parsed));
}

}  // namespace
}  // namespace superfluid::stress

int main(int argc, char** argv) { return superfluid::stress::Main(argc, argv); }
