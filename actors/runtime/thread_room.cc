#include "actors/runtime/thread_room.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <exception>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"

namespace superfluid {
namespace {

// How often it is looked whether an ended thread is counted still. It takes a few microseconds.
constexpr int kMaxLooks = 10'000;

// A thread that was joined still counts against limits until the kernel forgets its number.
void AwaitForgotten(pid_t thread) {
  for (int look = 0; look < kMaxLooks; ++look) {
    if (syscall(SYS_tgkill, getpid(), thread, 0) != 0) return;
    sched_yield();
  }
}

struct Probe {
  std::atomic<pid_t> id = 0;
  std::thread thread;
};

}  // namespace

bool HasThreadRoom(size_t threads) {
  absl::Notification end;
  std::vector<Probe> probes(threads);
  bool room = true;
  try {
    for (Probe& probe : probes) {
      probe.thread = std::thread([&probe, &end] {
        probe.id = gettid();
        end.WaitForNotification();
      });
    }
  } catch (const std::exception&) {
    room = false;
  }
  end.Notify();
  for (Probe& probe : probes) {
    if (!probe.thread.joinable()) continue;
    probe.thread.join();
    AwaitForgotten(probe.id);
  }
  return room;
}

}  // namespace superfluid
