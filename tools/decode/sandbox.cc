#include "tools/decode/sandbox.h"

#include <fcntl.h>
#include <poll.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <memory>

#include "absl/strings/str_cat.h"

namespace superfluid::decode {
namespace {

// Calls that are allowed whatever their arguments: none of them reaches beyond the process.
constexpr std::array kAllowed = {
    SCMP_SYS(brk),
    SCMP_SYS(clock_gettime),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
    SCMP_SYS(fstat),
    SCMP_SYS(futex),
    SCMP_SYS(getpid),
    SCMP_SYS(getrandom),
    SCMP_SYS(gettid),
    SCMP_SYS(gettimeofday),
    SCMP_SYS(madvise),
    SCMP_SYS(mremap),
    SCMP_SYS(munmap),
    SCMP_SYS(poll),
    SCMP_SYS(ppoll),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(sched_yield),
    SCMP_SYS(restart_syscall),
    SCMP_SYS(sched_getaffinity),
};

struct FdRule {
  int call;
  int fd;
};
constexpr std::array kAllowedOnFd = {
    FdRule{SCMP_SYS(read), kInputFd},
    FdRule{SCMP_SYS(pread64), kInputFd},
    FdRule{SCMP_SYS(write), kControlFd},
    FdRule{SCMP_SYS(write), kPcmFd},
};

constexpr std::array kMapCalls = {SCMP_SYS(mmap), SCMP_SYS(mprotect)};

absl::Status Error(int error, const char* what) {
  return absl::InternalError(absl::ErrnoToStatus(error, what).message());
}

absl::Status Limit(__rlimit_resource resource, rlim_t soft, rlim_t hard) {
  const rlimit limit = {.rlim_cur = soft, .rlim_max = hard};
  if (setrlimit(resource, &limit) != 0) return Error(errno, "setrlimit");
  return absl::OkStatus();
}

// What the process has mapped by now: nearly all of it libraries.
uint64_t MappedBytes() {
  std::ifstream statm("/proc/self/statm");
  uint64_t pages = 0;
  statm >> pages;
  return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

absl::Status LimitResources(const DecodeLimits& limits) {
  const rlim_t memory = MappedBytes() + limits.memory_bytes;
  const rlim_t cpu = limits.cpu_seconds;
  absl::Status status = Limit(RLIMIT_AS, memory, memory);
  status.Update(Limit(RLIMIT_CPU, cpu, cpu + 1));
  status.Update(Limit(RLIMIT_CORE, 0, 0));
  status.Update(Limit(RLIMIT_FSIZE, 0, 0));
  status.Update(Limit(RLIMIT_NPROC, 0, 0));
  return status;
}

using Filter = std::unique_ptr<void, decltype(&seccomp_release)>;

int AddRules(scmp_filter_ctx filter) {
  int error = 0;
  const auto add = [&error](int rc) {
    if (rc != 0 && error == 0) error = -rc;
  };
  for (const int call : kAllowed) add(seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 0));
  for (const FdRule& rule : kAllowedOnFd) {
    const scmp_arg_cmp on_fd = SCMP_A0(SCMP_CMP_EQ, static_cast<scmp_datum_t>(rule.fd));
    add(seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, rule.call, 1, &on_fd));
  }
  for (const int call : kMapCalls) {
    const scmp_arg_cmp not_executable = SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0);
    add(seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, call, 1, &not_executable));
  }
  return error;
}

absl::Status FilterCalls() {
  const Filter filter(seccomp_init(SCMP_ACT_ERRNO(EPERM)), &seccomp_release);
  if (filter == nullptr) return absl::InternalError("seccomp_init failed");
  if (const int error = AddRules(filter.get()); error != 0) return Error(error, "seccomp_rule_add");
  // Sets PR_SET_NO_NEW_PRIVS too.
  if (const int rc = seccomp_load(filter.get()); rc != 0) return Error(-rc, "seccomp_load");
  return absl::OkStatus();
}

}  // namespace

absl::Status DieWithClient(int lifeline_fd) {
  if (fcntl(lifeline_fd, F_SETOWN, getpid()) != 0 || fcntl(lifeline_fd, F_SETSIG, SIGKILL) != 0 ||
      fcntl(lifeline_fd, F_SETFL, O_ASYNC | O_NONBLOCK) != 0) {
    return Error(errno, "cannot watch the client");
  }
  pollfd lifeline = {.fd = lifeline_fd, .events = POLLIN, .revents = 0};
  if (poll(&lifeline, 1, 0) != 0) return absl::InternalError("the client is gone");
  return absl::OkStatus();
}

absl::Status Confine(const DecodeLimits& limits) {
  if (prctl(PR_SET_DUMPABLE, 0) != 0) return Error(errno, "prctl");
  if (absl::Status status = LimitResources(limits); !status.ok()) return status;
  return FilterCalls();
}

}  // namespace superfluid::decode
