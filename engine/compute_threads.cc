#include "engine/compute_threads.h"

#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "engine/monotonic_time.h"

namespace superfluid {
namespace {

constexpr absl::Duration kLookEvery = absl::Milliseconds(100);  // the system counts in 10 ms
constexpr absl::Duration kTooOld = absl::Seconds(1);
// A core is free if others leave this much of it: small things that run now and then count not.
constexpr double kFreeCore = 0.7;
// Columns of /proc/stat behind the name: user nice system idle iowait irq softirq steal.
constexpr size_t kIdle = 3;
constexpr size_t kWaiting = 4;
constexpr size_t kColumns = 8;

std::string FirstLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The folder of the process in the hierarchy of cgroups v2; "": the root or unknown.
std::string CgroupFolder() {
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    absl::string_view path = line;
    if (absl::ConsumePrefix(&path, "0::")) return std::string(absl::StripSuffix(path, "/"));
  }
  return "";
}

// The least quota of the process's cgroup and those around it.
std::optional<double> CpuQuota() {
  std::optional<double> least;
  for (std::string folder = CgroupFolder();; folder.resize(folder.rfind('/'))) {
    const std::optional<double> quota =
        ParseCpuMax(FirstLine(absl::StrCat("/sys/fs/cgroup", folder, "/cpu.max")));
    if (quota.has_value()) least = std::min(least.value_or(*quota), *quota);
    if (folder.find('/') == std::string::npos) return least;
  }
}

// False: the system does not say.
bool GetAllowed(cpu_set_t& allowed) {
  CPU_ZERO(&allowed);
  return sched_getaffinity(0, sizeof(allowed), &allowed) == 0;
}

// The busy ticks of a line of /proc/stat; nullopt: not that of one of these CPUs.
std::optional<uint64_t> BusyTicks(absl::string_view line, const cpu_set_t& allowed) {
  const std::vector<absl::string_view> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
  if (words.size() <= kColumns) return std::nullopt;
  absl::string_view name = words[0];
  uint32_t cpu = 0;
  if (!absl::ConsumePrefix(&name, "cpu") || !absl::SimpleAtoi(name, &cpu) || cpu >= CPU_SETSIZE ||
      !CPU_ISSET(cpu, &allowed)) {
    return std::nullopt;
  }
  uint64_t busy = 0;
  for (size_t i = 0; i < kColumns; ++i) {
    uint64_t ticks = 0;
    if (!absl::SimpleAtoi(words[i + 1], &ticks)) return std::nullopt;
    if (i != kIdle && i != kWaiting) busy += ticks;
  }
  return busy;
}

}  // namespace

std::optional<double> ParseCpuMax(absl::string_view text) {
  const std::vector<absl::string_view> words = absl::StrSplit(text, ' ', absl::SkipEmpty());
  double quota = 0;
  double period = 0;
  if (words.size() != 2 || !absl::SimpleAtod(words[0], &quota) ||
      !absl::SimpleAtod(words[1], &period) || !(quota > 0) || !(period > 0)) {
    return std::nullopt;
  }
  return quota / period;
}

ThreadLimit LimitThreads(int wanted) {
  cpu_set_t allowed;
  const int cpus = GetAllowed(allowed) ? std::max(CPU_COUNT(&allowed), 1) : 1;
  const double quota = CpuQuota().value_or(cpus);
  const int most = std::clamp(static_cast<int>(std::floor(std::min<double>(quota, cpus))), 1, cpus);
  if (wanted <= most) return {std::max(wanted, 1), ""};
  return {most, absl::StrCat(wanted, " threads are asked for, ", most,
                             " are used: the process may use ", cpus, " CPUs",
                             quota < cpus ? absl::StrCat(", ", quota, " of them by quota") : "")};
}

std::optional<CpuTimes> ReadCpuTimes() {
  CpuTimes times;
  cpu_set_t allowed;
  timespec own{};
  const auto ticks_a_second = static_cast<double>(sysconf(_SC_CLK_TCK));
  if (!GetAllowed(allowed) || clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &own) != 0) {
    return std::nullopt;
  }
  times.own = absl::DurationFromTimespec(own);
  times.at = MonotonicTime();
  std::ifstream file("/proc/stat");
  int cpus = 0;
  for (std::string line; std::getline(file, line) && line.starts_with("cpu");) {
    const std::optional<uint64_t> ticks = BusyTicks(line, allowed);
    if (!ticks.has_value()) continue;
    times.busy += absl::Seconds(static_cast<double>(*ticks) / ticks_a_second);
    ++cpus;
  }
  if (cpus == 0) return std::nullopt;
  times.cpus = cpus;
  return times;
}

ThreadChoice::ThreadChoice(int most, Reader read)
    : most_(std::max(most, 1)), read_(std::move(read)), threads_(most_) {}

void ThreadChoice::Begin() {
  if (most_ == 1) return;
  if (seen_.has_value() && MonotonicTime() - seen_->at < kTooOld) return;
  seen_ = read_();
}

int ThreadChoice::Next() {
  if (most_ == 1) return 1;
  if (seen_.has_value() && MonotonicTime() - seen_->at < kLookEvery) return threads_;
  const std::optional<CpuTimes> now = read_();
  if (now.has_value() && seen_.has_value() && now->at - seen_->at >= kLookEvery) {
    const absl::Duration others = (now->busy - seen_->busy) - (now->own - seen_->own);
    const double free = now->cpus - absl::FDivDuration(others, now->at - seen_->at);
    threads_ = std::clamp(static_cast<int>(std::floor(free + 1 - kFreeCore)), 1, most_);
  }
  seen_ = now;
  return threads_;
}

}  // namespace superfluid
