#include "tools/worker/sandbox.h"

#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>

namespace superfluid {
namespace {

// For the leak sanitizer, which has no other way to ask.
bool is_confined = false;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

// Allowed whatever their arguments. Paths are not looked at here: --media-root and --model-root are
// kept by who opens (engine/audio/media_path).
constexpr std::array kAllowed = {
    // Memory, of the process and of descriptors that it has.
    SCMP_SYS(brk),
    SCMP_SYS(fallocate),
    SCMP_SYS(ftruncate),
    SCMP_SYS(get_mempolicy),
    SCMP_SYS(madvise),
    SCMP_SYS(memfd_create),
    SCMP_SYS(mincore),
    SCMP_SYS(mlock),
    SCMP_SYS(mremap),
    SCMP_SYS(msync),
    SCMP_SYS(munlock),
    SCMP_SYS(munmap),
    // Threads and time.
    SCMP_SYS(alarm),
    SCMP_SYS(clock_getres),
    SCMP_SYS(clock_gettime),
    SCMP_SYS(clock_nanosleep),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
    SCMP_SYS(futex),
    SCMP_SYS(getcpu),
    SCMP_SYS(getpid),
    SCMP_SYS(getppid),
    SCMP_SYS(getpriority),
    SCMP_SYS(getrandom),
    SCMP_SYS(getrusage),
    SCMP_SYS(gettid),
    SCMP_SYS(gettimeofday),
    SCMP_SYS(membarrier),
    SCMP_SYS(nanosleep),
    SCMP_SYS(restart_syscall),
    SCMP_SYS(rseq),
    SCMP_SYS(sched_get_priority_max),
    SCMP_SYS(sched_get_priority_min),
    SCMP_SYS(sched_getaffinity),
    SCMP_SYS(sched_getparam),
    SCMP_SYS(sched_getscheduler),
    SCMP_SYS(sched_setaffinity),
    SCMP_SYS(sched_yield),
    SCMP_SYS(set_robust_list),
    SCMP_SYS(set_tid_address),
    SCMP_SYS(sysinfo),
    SCMP_SYS(times),
    SCMP_SYS(uname),
    // Signals of its own.
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(rt_sigpending),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(rt_sigsuspend),
    SCMP_SYS(rt_sigtimedwait),
    SCMP_SYS(sigaltstack),
    SCMP_SYS(signalfd4),
    // Descriptors that it has, and those that peers send.
    SCMP_SYS(accept4),
    SCMP_SYS(close),
    SCMP_SYS(close_range),
    SCMP_SYS(dup),
    SCMP_SYS(dup2),
    SCMP_SYS(dup3),
    SCMP_SYS(epoll_create1),
    SCMP_SYS(epoll_ctl),
    SCMP_SYS(epoll_pwait),
    SCMP_SYS(epoll_wait),
    SCMP_SYS(eventfd2),
    SCMP_SYS(fadvise64),
    SCMP_SYS(fcntl),
    SCMP_SYS(fstat),
    SCMP_SYS(fstatfs),
    SCMP_SYS(getpeername),
    SCMP_SYS(getsockname),
    SCMP_SYS(getsockopt),
    SCMP_SYS(lseek),
    SCMP_SYS(pipe2),
    SCMP_SYS(poll),
    SCMP_SYS(ppoll),
    SCMP_SYS(pread64),
    SCMP_SYS(preadv),
    SCMP_SYS(read),
    SCMP_SYS(readahead),
    SCMP_SYS(readv),
    SCMP_SYS(recvfrom),
    SCMP_SYS(recvmsg),
    SCMP_SYS(sendmsg),
    SCMP_SYS(sendto),
    SCMP_SYS(setsockopt),
    SCMP_SYS(shutdown),
    SCMP_SYS(timerfd_create),
    SCMP_SYS(timerfd_settime),
    SCMP_SYS(write),
    SCMP_SYS(writev),
    // Looking at files.
    SCMP_SYS(access),
    SCMP_SYS(faccessat),
    SCMP_SYS(faccessat2),
    SCMP_SYS(getcwd),
    SCMP_SYS(getdents64),
    SCMP_SYS(getegid),
    SCMP_SYS(geteuid),
    SCMP_SYS(getgid),
    SCMP_SYS(getuid),
    SCMP_SYS(lstat),
    SCMP_SYS(newfstatat),
    SCMP_SYS(readlink),
    SCMP_SYS(readlinkat),
    SCMP_SYS(stat),
    SCMP_SYS(statfs),
    SCMP_SYS(statx),
};

// The bits of open's flags by which a file is made or changed; a device is written to without them.
constexpr scmp_datum_t kMakes = O_CREAT | O_TRUNC | O_APPEND | (O_TMPFILE & ~O_DIRECTORY);

// Rules with conditions. Each stands for a call that is allowed if all of its conditions hold.
class Rules {
 public:
  explicit Rules(scmp_filter_ctx filter) : filter_(filter) {}

  void Allow(int call) { Note(seccomp_rule_add_array(filter_, SCMP_ACT_ALLOW, call, 0, nullptr)); }

  template <class... Conditions>
  void AllowIf(int call, Conditions... conditions) {
    const std::array<scmp_arg_cmp, sizeof...(conditions)> all = {conditions...};
    Note(seccomp_rule_add_array(filter_, SCMP_ACT_ALLOW, call, all.size(), all.data()));
  }

  void FailWith(int error, int call) {
    Note(seccomp_rule_add_array(filter_, SCMP_ACT_ERRNO(static_cast<uint32_t>(error)), call, 0,
                                nullptr));
  }

  // 0, or the errno of the first rule that could not be added.
  int error() const { return error_; }

 private:
  void Note(int rc) {
    if (rc != 0 && error_ == 0) error_ = -rc;
  }

  scmp_filter_ctx filter_;
  int error_ = 0;
};

scmp_arg_cmp Equals(unsigned argument, scmp_datum_t value) {
  return {.arg = argument, .op = SCMP_CMP_EQ, .datum_a = value, .datum_b = 0};
}

// Of the bits in `mask` those in `value` are set, and no others.
scmp_arg_cmp HasBits(unsigned argument, scmp_datum_t mask, scmp_datum_t value) {
  return {.arg = argument, .op = SCMP_CMP_MASKED_EQ, .datum_a = mask, .datum_b = value};
}

void AddRules(const SandboxOptions& options, Rules& rules) {
  for (const int call : kAllowed) rules.Allow(call);
  const auto own_pid = static_cast<scmp_datum_t>(getpid());
  rules.AllowIf(SCMP_SYS(tgkill), Equals(0, own_pid));
  // Threads only. The C library asks for clone3 first, whose flags no filter can see.
  rules.AllowIf(SCMP_SYS(clone), HasBits(0, CLONE_THREAD, CLONE_THREAD));
  rules.FailWith(ENOSYS, SCMP_SYS(clone3));
  rules.AllowIf(SCMP_SYS(prctl), Equals(0, PR_SET_NAME));
  rules.AllowIf(SCMP_SYS(prctl), Equals(0, PR_GET_NAME));
  // Limits are read, not set.
  rules.AllowIf(SCMP_SYS(prlimit64), Equals(2, 0));
  if (options.notifies) {
    rules.AllowIf(SCMP_SYS(socket), Equals(0, AF_UNIX), Equals(1, SOCK_DGRAM | SOCK_CLOEXEC));
  }
  if (options.profile == SandboxProfile::kDevice) {
    rules.Allow(SCMP_SYS(ioctl));
    rules.Allow(SCMP_SYS(mmap));
    rules.Allow(SCMP_SYS(mprotect));
    rules.Allow(SCMP_SYS(mbind));
    rules.Allow(SCMP_SYS(set_mempolicy));
    rules.AllowIf(SCMP_SYS(open), HasBits(1, kMakes, 0));
    rules.AllowIf(SCMP_SYS(openat), HasBits(2, kMakes, 0));
    return;
  }
  rules.AllowIf(SCMP_SYS(ioctl), Equals(1, TCGETS));
  rules.AllowIf(SCMP_SYS(mmap), HasBits(2, PROT_EXEC, 0));
  rules.AllowIf(SCMP_SYS(mprotect), HasBits(2, PROT_EXEC, 0));
  rules.AllowIf(SCMP_SYS(open), HasBits(1, kMakes | O_ACCMODE, O_RDONLY));
  rules.AllowIf(SCMP_SYS(openat), HasBits(2, kMakes | O_ACCMODE, O_RDONLY));
}

absl::Status Error(int error, const char* what) {
  return absl::InternalError(absl::ErrnoToStatus(error, what).message());
}

// Makes what there is of a limit now the most there will be.
absl::Status Fix(__rlimit_resource resource) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0) return Error(errno, "getrlimit");
  limit.rlim_max = limit.rlim_cur;
  return setrlimit(resource, &limit) == 0 ? absl::OkStatus() : Error(errno, "setrlimit");
}

absl::Status LimitResources() {
  const rlimit none{};
  // A core would have the audio and texts of requests in it.
  if (setrlimit(RLIMIT_CORE, &none) != 0 || setrlimit(RLIMIT_MSGQUEUE, &none) != 0) {
    return Error(errno, "setrlimit");
  }
  absl::Status status = Fix(RLIMIT_NOFILE);
  status.Update(Fix(RLIMIT_NPROC));
  status.Update(Fix(RLIMIT_MEMLOCK));
  status.Update(Fix(RLIMIT_AS));
  return status;
}

}  // namespace

absl::Status Confine(const SandboxOptions& options) {
  if (options.profile == SandboxProfile::kOff) return absl::OkStatus();
  if (absl::Status status = LimitResources(); !status.ok()) return status;
  const std::unique_ptr<void, decltype(&seccomp_release)> filter(
      seccomp_init(SCMP_ACT_ERRNO(EPERM)), &seccomp_release);
  if (filter == nullptr) return absl::InternalError("seccomp_init failed");
  // Threads that run already are held to it as well.
  if (const int rc = seccomp_attr_set(filter.get(), SCMP_FLTATR_CTL_TSYNC, 1); rc != 0) {
    return Error(-rc, "seccomp_attr_set");
  }
  Rules rules(filter.get());
  AddRules(options, rules);
  if (rules.error() != 0) return Error(rules.error(), "seccomp_rule_add");
  // Sets PR_SET_NO_NEW_PRIVS too.
  if (const int rc = seccomp_load(filter.get()); rc != 0) return Error(-rc, "seccomp_load");
  is_confined = true;
  return absl::OkStatus();
}

}  // namespace superfluid

#ifdef __SANITIZE_ADDRESS__
// Leaks are looked for by a process that traces this one, which a confined process cannot make.
// NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
extern "C" int __lsan_is_turned_off() { return superfluid::is_confined ? 1 : 0; }
#endif
