#include "tests/shm/fd_test_util.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace superfluid::testing {
namespace {

// A test that cannot set itself up proves nothing; better to stop than to go on.
void Require(bool ok) {
  if (!ok) std::abort();
}

}  // namespace

size_t CountOpenFds() {
  DIR* folder = opendir("/proc/self/fd");
  Require(folder != nullptr);
  size_t entries = 0;
  while (readdir(folder) != nullptr) ++entries;
  closedir(folder);
  return entries - 3;  // ".", ".." and the folder itself
}

bool SameFile(int a, int b) {
  struct stat first = {};
  struct stat second = {};
  Require(fstat(a, &first) == 0 && fstat(b, &second) == 0);
  return first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

bool HasCloseOnExec(int fd) { return (fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0; }

OwnedFd MakeMemfd(uint64_t bytes, int seals) {
  OwnedFd fd(memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  Require(fd.valid() && ftruncate(fd.get(), static_cast<off_t>(bytes)) == 0);
  Require(fcntl(fd.get(), F_ADD_SEALS, seals) == 0);
  return fd;
}

std::pair<OwnedFd, OwnedFd> MakeSocketPair() {
  int fds[2];
  Require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
  return {OwnedFd(fds[0]), OwnedFd(fds[1])};
}

NoMoreFds::NoMoreFds() {
  rlimit limit = {};
  Require(getrlimit(RLIMIT_NOFILE, &limit) == 0);
  old_limit_ = limit.rlim_cur;
  // A new descriptor takes the lowest free number, so a limit at that number forbids it.
  const int lowest = open("/dev/null", O_RDONLY | O_CLOEXEC);
  Require(lowest >= 0);
  close(lowest);
  limit.rlim_cur = static_cast<rlim_t>(lowest);
  Require(setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

NoMoreFds::~NoMoreFds() {
  rlimit limit = {};
  Require(getrlimit(RLIMIT_NOFILE, &limit) == 0);
  limit.rlim_cur = old_limit_;
  Require(setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

void AwaitBlocked(pid_t thread) {
  const std::string path = "/proc/self/task/" + std::to_string(thread) + "/stat";
  for (;;) {
    std::ifstream file(path);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const size_t name_end = text.rfind(") ");
    if (name_end == std::string::npos || text[name_end + 2] == 'S') return;
    sched_yield();
  }
}

pid_t ThisThread() { return static_cast<pid_t>(syscall(SYS_gettid)); }

}  // namespace superfluid::testing
