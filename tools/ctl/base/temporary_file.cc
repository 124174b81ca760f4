#include "tools/ctl/base/temporary_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace superfluid::ctl {
namespace {

// A file that a signal handler removes. The path is written before `used` is set.
struct Slot {
  std::atomic<bool> taken{false};
  std::atomic<bool> used{false};
  std::array<char, PATH_MAX> path{};
};
static_assert(std::atomic<bool>::is_always_lock_free);

// A command has one or two at a time.
constexpr int kSlots = 4;

// NOLINTNEXTLINE(*-avoid-non-const-global-variables): a handler has no other way
std::array<Slot, kSlots> slots;

// -1: the list is full or the path too long; the file is removed by its destructor only.
int Register(const std::string& path) {
  if (path.size() >= PATH_MAX) return -1;
  for (int i = 0; i < kSlots; ++i) {
    Slot& slot = slots[static_cast<size_t>(i)];
    if (slot.taken.exchange(true)) continue;
    std::memcpy(slot.path.data(), path.c_str(), path.size() + 1);
    slot.used.store(true);
    return i;
  }
  return -1;
}

// The signal comes again, with its usual meaning, when this returns.
extern "C" void RemoveAndEnd(int signal_number) {
  RemoveTemporaryFiles();
  raise(signal_number);
}

bool CatchSignals() {
  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    struct sigaction action = {};
    sigaction(signal_number, nullptr, &action);
    if (action.sa_handler != SIG_DFL) continue;
    action.sa_handler = RemoveAndEnd;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigemptyset(&action.sa_mask);
    sigaction(signal_number, &action, nullptr);
  }
  return true;
}

void Unregister(int index) {
  if (index < 0) return;
  Slot& slot = slots[static_cast<size_t>(index)];
  slot.used.store(false);
  slot.taken.store(false);
}

}  // namespace

absl::StatusOr<TemporaryFile> TemporaryFile::Create(const std::string& begin,
                                                    const std::string& end) {
  [[maybe_unused]] static const bool caught = CatchSignals();
  std::string path = absl::StrCat(begin, "XXXXXX", end);
  const int fd = mkostemps(path.data(), static_cast<int>(end.size()), O_CLOEXEC);
  if (fd < 0) return absl::InternalError(std::strerror(errno));
  TemporaryFile file(std::move(path));
  file.fd_.Reset(fd);
  file.slot_ = Register(file.path_);
  return file;
}

TemporaryFile::TemporaryFile(TemporaryFile&& other) noexcept
    : path_(std::exchange(other.path_, {})),
      fd_(std::move(other.fd_)),
      slot_(std::exchange(other.slot_, -1)) {}

TemporaryFile::~TemporaryFile() {
  if (!path_.empty()) unlink(path_.c_str());
  Unregister(slot_);
}

bool TemporaryFile::HasName() const {
  struct stat file = {};
  return fstat(fd(), &file) == 0 && file.st_nlink > 0;
}

void TemporaryFile::Keep() {
  Unregister(std::exchange(slot_, -1));
  path_.clear();
}

void RemoveTemporaryFiles() {
  for (const Slot& slot : slots) {
    if (slot.used.load()) unlink(slot.path.data());
  }
}

}  // namespace superfluid::ctl
