#include "tools/decode/spawn.h"

#include <fcntl.h>
#include <spawn.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "shm/owned_fd.h"

namespace superfluid::decode {
namespace {

// Beyond all numbers that descriptors get there, so that none is overwritten before it was copied.
constexpr int kFirstFreeFd = 64;

constexpr std::array kKeptNames = {"LD_LIBRARY_PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS",
                                   "TSAN_OPTIONS"};

class FileActions {
 public:
  FileActions() { posix_spawn_file_actions_init(&actions_); }
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;

  int OpenNull(int fd) {
    return posix_spawn_file_actions_addopen(&actions_, fd, "/dev/null", O_RDWR, 0);
  }
  int Duplicate(int fd, int as) { return posix_spawn_file_actions_adddup2(&actions_, fd, as); }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_ = {};
};

class Attributes {
 public:
  Attributes() {
    posix_spawnattr_init(&attributes_);
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes_, &signals);
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&attributes_, &signals);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~Attributes() { posix_spawnattr_destroy(&attributes_); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;

  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_ = {};
};

std::vector<std::string> KeptEnvironment() {
  std::vector<std::string> kept = {"LC_ALL=C"};
  for (const char* name : kKeptNames) {
    if (const char* value = std::getenv(name)) kept.push_back(absl::StrCat(name, "=", value));
  }
  return kept;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

absl::Status SpawnError(int error, const std::string& program) {
  const absl::Status status = absl::ErrnoToStatus(error, absl::StrCat("cannot start ", program));
  if (error == EAGAIN || error == ENOMEM || error == EMFILE || error == ENFILE) {
    return absl::ResourceExhaustedError(status.message());
  }
  return status;
}

}  // namespace

absl::StatusOr<pid_t> Spawn(const std::string& program, absl::Span<const SpawnFd> fds) {
  FileActions actions;
  int error = 0;
  for (const int standard : {0, 1, 2}) {
    if (error == 0) error = actions.OpenNull(standard);
  }
  std::vector<OwnedFd> copies;
  for (const SpawnFd& entry : fds) {
    copies.emplace_back(fcntl(entry.fd, F_DUPFD_CLOEXEC, kFirstFreeFd));
    if (!copies.back().valid()) return SpawnError(errno, program);
    if (error == 0) error = actions.Duplicate(copies.back().get(), entry.as);
  }
  const Attributes attributes;
  std::vector<std::string> arguments = {program};
  std::vector<std::string> environment = KeptEnvironment();
  pid_t pid = -1;
  if (error == 0) {
    error = posix_spawn(&pid, program.c_str(), actions.get(), attributes.get(),
                        Pointers(arguments).data(), Pointers(environment).data());
  }
  if (error != 0) return SpawnError(error, program);
  return pid;
}

}  // namespace superfluid::decode
