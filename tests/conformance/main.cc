// Checks a worker against the contract of Link W. See --help.

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "tests/conformance/check.h"
#include "tests/conformance/options.h"
#include "tests/conformance/report.h"
#include "tests/conformance/runner.h"
#include "tests/conformance/worker.h"

namespace superfluid::conformance {
namespace {

// A folder for the run; gone with it.
class TempFolder {
 public:
  TempFolder() {
    std::string pattern = "/tmp/sfc-XXXXXX";  // short: a socket's path has 107 bytes
    path_ = mkdtemp(pattern.data());
  }
  ~TempFolder() { std::filesystem::remove_all(path_); }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::vector<Check> Chosen(const Options& options) {
  std::vector<Check> chosen;
  for (Check& check : AllChecks()) {
    const std::string name = NameOf(check);
    if (!Matches(options.only, check.ids, name) || Matches(options.skip, check.ids, name)) continue;
    chosen.push_back(std::move(check));
  }
  return chosen;
}

struct Workers {
  std::unique_ptr<Worker> plain;
  std::unique_ptr<Worker> slow;
  Worker* slow_one() const { return slow != nullptr ? slow.get() : nullptr; }
};

Workers MakeWorkers(const Options& options, const std::string& folder) {
  Workers workers;
  if (options.worker.empty()) {
    workers.plain = std::make_unique<Worker>(options.connect);
    if (options.slow) workers.slow = std::make_unique<Worker>(options.connect);
    return workers;
  }
  std::vector<std::string> command = SplitCommand(options.worker);
  workers.plain = std::make_unique<Worker>(command, folder + "/plain.sock");
  if (options.slow_args.empty()) return workers;
  for (std::string& word : SplitCommand(options.slow_args)) command.push_back(std::move(word));
  workers.slow = std::make_unique<Worker>(command, folder + "/slow.sock");
  return workers;
}

void PrintLog(const Worker& worker) {
  constexpr std::streamoff most = 8192;
  std::ifstream log(worker.log(), std::ios::binary | std::ios::ate);
  if (!log) return;
  const std::streamoff size = log.tellg();
  log.seekg(size > most ? size - most : 0);
  const std::string text{std::istreambuf_iterator<char>(log), {}};
  std::fprintf(stderr, "--- the end of the worker's log\n%s", text.c_str());
}

int RunAll(const Options& options) {
  const TempFolder folder;
  const Workers workers = MakeWorkers(options, folder.path());
  Settings settings{.folder = options.folder.empty() ? folder.path() : options.folder,
                    .adapter = options.adapter,
                    .media = options.media,
                    .strategy = options.strategy,
                    .rooted = options.rooted};
  try {
    workers.plain->EnsureRunning();
    if (const std::string wrong = workers.plain->Died(); !wrong.empty()) Fail(wrong);
  } catch (const Failed& failed) {
    std::fprintf(stderr, "%s\n", failed.what());
    PrintLog(*workers.plain);
    return 3;
  }
  Runner runner(workers.plain.get(), workers.slow_one(), std::move(settings), options.seed);
  const std::vector<Check> checks = Chosen(options);
  std::vector<Result> results;
  bool failed = false;
  std::printf("seed %llu\n", static_cast<unsigned long long>(options.seed));
  for (const Check& check : checks) {
    results.push_back(runner.Run(check));
    const bool bad = results.back().verdict == Verdict::kFail;
    failed = failed || bad;
    if (options.text || bad) std::printf("%s", TextOf(results.back()).c_str());
    std::fflush(stdout);
  }
  std::printf("%s", SummaryOf(results).c_str());
  if (!options.junit.empty()) {
    std::ofstream(options.junit, std::ios::binary)
        << JUnitOf(results, options.name, runner.Calls());
  }
  if (failed) PrintLog(*workers.plain);
  return failed ? 1 : 0;
}

int Main(int argc, const char* const* argv) {
  const std::variant<Options, Leave> parsed = ParseOptions(argc, argv);
  if (const auto* leave = std::get_if<Leave>(&parsed)) {
    std::fputs(leave->out.c_str(), stdout);
    std::fputs(leave->err.c_str(), stderr);
    return leave->code;
  }
  const auto& options = std::get<Options>(parsed);
  if (!options.list) return RunAll(options);
  for (const Check& check : Chosen(options)) std::printf("%s\n", NameOf(check).c_str());
  return 0;
}

}  // namespace
}  // namespace superfluid::conformance

int main(int argc, char** argv) { return superfluid::conformance::Main(argc, argv); }
