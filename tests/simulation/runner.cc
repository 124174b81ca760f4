#include "tests/simulation/runner.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <thread>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "spdlog/spdlog.h"
#include "tests/simulation/plan.h"
#include "tests/simulation/session.h"
#include "tests/simulation/shrink.h"

namespace superfluid::simulation {
namespace {

constexpr size_t kMostFailures = 5;

// One child process, which plays every jobs-th seed and reports in lines over a pipe:
//   begin SEED / fail SEED TEXT / count NUMBER NAME / done
struct Child {
  pid_t pid = 0;
  std::FILE* reports = nullptr;
};

std::string OneLine(const std::vector<std::string>& violations) {
  return absl::StrJoin(violations, "; ");
}

void Report(int pipe, const std::string& line) {
  const std::string whole = line + "\n";
  size_t sent = 0;
  while (sent < whole.size()) {
    const ssize_t now = write(pipe, whole.data() + sent, whole.size() - sent);
    if (now <= 0) std::_Exit(1);
    sent += static_cast<size_t>(now);
  }
}

[[noreturn]] void PlayInChild(int pipe, uint64_t first, uint64_t end, int stride) {
  std::map<std::string, int64_t> counts;
  for (uint64_t seed = first; seed < end; seed += static_cast<uint64_t>(stride)) {
    Report(pipe, absl::StrCat("begin ", seed));
    const Outcome outcome = Play(MakePlan(seed));
    for (const auto& [name, count] : outcome.counts) counts[name] += count;
    if (!outcome.violations.empty()) {
      Report(pipe, absl::StrCat("fail ", seed, " ", OneLine(outcome.violations)));
    }
  }
  for (const auto& [name, count] : counts) Report(pipe, absl::StrCat("count ", count, " ", name));
  Report(pipe, "done");
  std::_Exit(0);
}

std::optional<Child> Fork(uint64_t first, uint64_t end, int stride) {
  int ends[2];
  if (pipe(ends) != 0) return std::nullopt;
  std::fflush(nullptr);
  const pid_t pid = fork();
  if (pid < 0) return std::nullopt;
  if (pid == 0) {
    close(ends[0]);
    PlayInChild(ends[1], first, end, stride);
  }
  close(ends[1]);
  return Child{.pid = pid, .reports = fdopen(ends[0], "r")};
}

// Takes over one line; returns the seed that is being played after it.
void Take(const std::string& line, Summary& summary, uint64_t& playing, bool& done) {
  const std::vector<std::string> words = absl::StrSplit(line, absl::MaxSplits(' ', 2));
  uint64_t number = 0;
  if (words.size() > 1 && !absl::SimpleAtoi(words[1], &number)) return;
  if (words[0] == "begin") {
    playing = number;
    ++summary.played;
  } else if (words[0] == "fail") {
    summary.failures.push_back({.seed = number, .text = words[2]});
  } else if (words[0] == "count") {
    summary.counts[words[2]] += static_cast<int64_t>(number);
  } else if (words[0] == "done") {
    done = true;
  }
}

void Collect(Child& child, Summary& summary) {
  uint64_t playing = 0;
  bool done = false;
  char* line = nullptr;
  size_t capacity = 0;
  while (true) {
    const ssize_t length = getline(&line, &capacity, child.reports);
    if (length <= 0) break;
    Take(std::string(absl::StripSuffix(absl::string_view(line, static_cast<size_t>(length)), "\n")),
         summary, playing, done);
    if (summary.failures.size() >= kMostFailures) kill(child.pid, SIGKILL);
  }
  std::free(line);  // NOLINT(cppcoreguidelines-no-malloc): getline's
  std::fclose(child.reports);
  int status = 0;
  waitpid(child.pid, &status, 0);
  if (!done && summary.failures.size() < kMostFailures) {
    summary.failures.push_back(
        {.seed = playing, .text = absl::StrCat("the process ended, status ", status)});
  }
}

struct Options {
  uint64_t seeds = 10'000;
  uint64_t first = 1;
  uint64_t seed = 0;
  uint64_t jobs = std::max(1u, std::thread::hardware_concurrency());
  bool trace = false;
  bool shrink = false;
};

std::optional<Options> ParseOptions(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    absl::string_view argument = argv[i];
    const auto number = [&argument](absl::string_view name, uint64_t& value) {
      return absl::ConsumePrefix(&argument, name) && absl::SimpleAtoi(argument, &value);
    };
    if (argument == "--trace") {
      options.trace = true;
    } else if (argument == "--shrink") {
      options.shrink = true;
    } else if (!number("--seeds=", options.seeds) && !number("--first=", options.first) &&
               !number("--seed=", options.seed) && !number("--jobs=", options.jobs)) {
      return std::nullopt;
    }
  }
  return options;
}

// Returns what names a violation's kind: the words before the colon that follows the link's number.
std::string KindOf(const std::string& violations) {
  const std::vector<std::string> parts = absl::StrSplit(violations, ": ");
  return parts.size() > 2 ? parts[1] : parts[0];
}

// Returns the kind of the first violation of `plan`, played in a process of its own, which may
// crash; empty if there is none.
std::string KindOfFailure(const Plan& plan) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  std::fflush(nullptr);
  const pid_t pid = fork();
  if (pid == 0) {
    const std::vector<std::string> violations = Play(plan).violations;
    if (!violations.empty()) Report(ends[1], violations.front());
    std::_Exit(0);
  }
  close(ends[1]);
  std::string text;
  std::array<char, 512> piece;
  for (ssize_t got = 0; (got = read(ends[0], piece.data(), piece.size())) > 0;) {
    text.append(piece.data(), static_cast<size_t>(got));
  }
  close(ends[0]);
  int status = 0;
  if (pid < 0 || waitpid(pid, &status, 0) < 0) return {};
  return status == 0 ? KindOf(text) : absl::StrCat("the process ended, status ", status);
}

int Show(const Plan& plan, const Options& options) {
  const Outcome outcome = Play(plan, {.trace = options.trace});
  for (const std::string& line : outcome.trace) std::printf("%s\n", line.c_str());
  for (const std::string& line : outcome.violations) std::printf("VIOLATION: %s\n", line.c_str());
  std::printf("seed %llu (%s, %zu actions): %zu violations, fingerprint %016llx\n",
              static_cast<unsigned long long>(plan.seed), plan.profile.c_str(), plan.actions.size(),
              outcome.violations.size(), static_cast<unsigned long long>(outcome.fingerprint));
  return outcome.violations.empty() ? 0 : 1;
}

int PlayOne(const Options& options) {
  Plan plan = MakePlan(options.seed);
  const std::string kind = options.shrink ? KindOfFailure(plan) : std::string();
  if (!kind.empty()) {
    plan =
        Shrink(plan, [&kind](const Plan& candidate) { return KindOfFailure(candidate) == kind; });
    std::printf("shortest plan found that fails alike (%s):\n", kind.c_str());
    for (const Action& action : plan.actions) {
      std::printf("  %s draw=%u handlers=%u\n", std::string(NameOf(action.kind)).c_str(),
                  action.draw, action.handlers);
    }
  }
  return Show(plan, options);
}

}  // namespace

Summary PlaySeeds(uint64_t first, uint64_t seeds, int jobs) {
  Summary summary;
  std::vector<Child> children;
  for (int job = 0; job < jobs; ++job) {
    std::optional<Child> child = Fork(first + static_cast<uint64_t>(job), first + seeds, jobs);
    if (child) children.push_back(*child);
  }
  for (Child& child : children) Collect(child, summary);
  if (children.empty()) summary.failures.push_back({.text = "no process could be started"});
  return summary;
}

int RunMain(int argc, char** argv) {
  const std::optional<Options> options = ParseOptions(argc, argv);
  if (!options) {
    std::fprintf(stderr,
                 "usage: simulation [--seeds=N] [--first=N] [--jobs=N]\n"
                 "       simulation --seed=N [--trace] [--shrink]\n");
    return 2;
  }
  if (options->seed != 0) {
    spdlog::set_level(spdlog::level::off);
    return PlayOne(*options);
  }
  spdlog::set_level(spdlog::level::off);
  const Summary summary =
      PlaySeeds(options->first, options->seeds, static_cast<int>(options->jobs));
  for (const auto& [name, count] : summary.counts) {
    std::printf("%10lld  %s\n", static_cast<long long>(count), name.c_str());
  }
  for (const Failure& failure : summary.failures) {
    std::printf(
        "FAILED seed %llu: %s\n  replay: bazel run //tests/simulation -- --seed=%llu --trace "
        "--shrink\n",
        static_cast<unsigned long long>(failure.seed), failure.text.c_str(),
        static_cast<unsigned long long>(failure.seed));
  }
  std::printf("%llu seeds played, %zu failed\n", static_cast<unsigned long long>(summary.played),
              summary.failures.size());
  return summary.failures.empty() ? 0 : 1;
}

}  // namespace superfluid::simulation
