#include "tools/bench/host.h"

#include <sched.h>
#include <sys/utsname.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace superfluid::bench {
namespace {

namespace fs = std::filesystem;

// The number after `key` in a file of lines "key: number"; 0 if there is none.
uint64_t NumberAfter(const fs::path& file, absl::string_view key) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    absl::string_view rest = line;
    uint64_t number = 0;
    if (!absl::ConsumePrefix(&rest, key)) continue;
    rest = absl::StripSuffix(rest, " kB");
    if (absl::SimpleAtoi(rest, &number)) return number;
  }
  return 0;
}

// Calls `visit` with the folder of each thread that lives.
template <typename Visit>
void ForEachThread(pid_t process, Visit visit) {
  std::error_code error;
  for (fs::directory_iterator at(absl::StrCat("/proc/", process, "/task"), error), end;
       !error && at != end; at.increment(error)) {
    visit(at->path());
  }
}

}  // namespace

CpuTimes ReadCpuTimes() {
  std::ifstream stream("/proc/stat");
  std::string name;
  stream >> name;
  CpuTimes times;
  for (int field = 0; field < 8; ++field) {
    uint64_t ticks = 0;
    stream >> ticks;
    times.total += ticks;
    if (field == 3) times.idle = ticks;
    if (field == 7) times.steal = ticks;
  }
  return times;
}

std::string KernelName() {
  utsname name = {};
  uname(&name);
  return absl::StrCat(static_cast<const char*>(name.sysname), " ",
                      static_cast<const char*>(name.release));
}

std::string CpuName() {
  std::ifstream stream("/proc/cpuinfo");
  for (std::string line; std::getline(stream, line);) {
    const size_t colon = line.find(": ");
    if (absl::StartsWith(line, "model name") && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return "unknown";
}

std::vector<int> AllowedCpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof(set), &set);
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

absl::Status PlaceProcess(pid_t process, const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(cpu, &set);
  absl::Status status;
  ForEachThread(process, [&](const fs::path& thread) {
    pid_t id = 0;
    if (!absl::SimpleAtoi(thread.filename().string(), &id)) return;
    if (sched_setaffinity(id, sizeof(set), &set) == 0 || errno == ESRCH) return;
    status = absl::InternalError(absl::StrCat("cannot place a thread: ", std::strerror(errno)));
  });
  return status;
}

ProcessUsage ReadUsage(pid_t process) {
  ProcessUsage usage;
  ForEachThread(process, [&](const fs::path& thread) {
    uint64_t nanoseconds = 0;
    std::ifstream(thread / "schedstat") >> nanoseconds;
    usage.cpu_us += static_cast<double>(nanoseconds) / 1000;
    usage.sleeps += NumberAfter(thread / "status", "voluntary_ctxt_switches:\t");
    ++usage.threads;
  });
  usage.rss_kib = NumberAfter(absl::StrCat("/proc/", process, "/status"), "VmRSS:");
  return usage;
}

}  // namespace superfluid::bench
