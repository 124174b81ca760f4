#include "tools/decode/zombies.h"

#include <sys/wait.h>

#include <mutex>
#include <vector>

namespace superfluid::decode {
namespace {

struct Zombies {
  std::mutex mutex;
  std::vector<pid_t> pids;  // guarded by mutex
};

Zombies& All() {
  static auto* all = new Zombies;  // outlives every thread
  return *all;
}

}  // namespace

void LeaveZombie(pid_t pid) {
  Zombies& all = All();
  const std::lock_guard lock(all.mutex);
  if (waitpid(pid, nullptr, WNOHANG) == 0) all.pids.push_back(pid);
}

void BuryZombies() {
  Zombies& all = All();
  const std::lock_guard lock(all.mutex);
  std::erase_if(all.pids, [](pid_t pid) { return waitpid(pid, nullptr, WNOHANG) != 0; });
}

}  // namespace superfluid::decode
