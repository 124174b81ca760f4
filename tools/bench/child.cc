#include "tools/bench/child.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "absl/strings/str_cat.h"

namespace superfluid::bench {
namespace {

namespace fs = std::filesystem;

// Becomes the program. Only what a process between fork and exec may do.
[[noreturn]] void Become(char* const* argv, const char* log, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);
  const int fd = open(log, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
  if (fd >= 0) {
    dup2(fd, STDOUT_FILENO);
    dup2(fd, STDERR_FILENO);
  }
  execv(argv[0], argv);
  _exit(127);
}

}  // namespace

ScratchFolder::ScratchFolder() {
  std::string pattern = "/tmp/sfb-XXXXXX";  // short: a socket's path has 107 bytes
  path_ = mkdtemp(pattern.data()) == nullptr ? "." : pattern;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (path_ != ".") fs::remove_all(path_, ignored);
}

absl::StatusOr<Child> Child::Start(std::vector<std::string> arguments, const std::string& log) {
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) return absl::InternalError(absl::StrCat("cannot fork: ", std::strerror(errno)));
  if (pid == 0) Become(argv.data(), log.c_str(), parent);
  return Child(pid);
}

Child::~Child() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

std::string OwnProgram() { return fs::read_symlink("/proc/self/exe").string(); }

absl::StatusOr<std::string> BuiltFile(const std::string& name) {
  const char* const runfiles = std::getenv("RUNFILES_DIR");
  for (const fs::path& folder : {
           fs::path(OwnProgram() + ".runfiles/superfluid"),
           fs::path(runfiles == nullptr ? "" : absl::StrCat(runfiles, "/superfluid")),
           fs::current_path(),
       }) {
    if (folder.empty() || !fs::exists(folder / name)) continue;
    return fs::absolute(folder / name).string();
  }
  return absl::NotFoundError(absl::StrCat("cannot find ", name, "; run this with `bazel run`"));
}

}  // namespace superfluid::bench
