#ifndef SUPERFLUID_ACTORS_MESSAGES_WORKER_PRESENCE_H_
#define SUPERFLUID_ACTORS_MESSAGES_WORKER_PRESENCE_H_

#include <sys/types.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace superfluid {

// Since when the worker is there, and who is with it, for PONG. Times are monotonic nanoseconds of
// the actor system's clock.
// Threads: Set* from the Supervisor; the rest from any thread. Two figures may be a change apart.
class WorkerPresence {
 public:
  explicit WorkerPresence(int64_t started_ns) : started_ns_(started_ns) {}

  void SetObservers(size_t observers) noexcept {
    observers_.store(static_cast<uint32_t>(observers), std::memory_order_relaxed);
  }
  // `pid`: 0 if it is not known. `since_ns`: 0 if nobody drives.
  void SetDriver(pid_t pid, int64_t since_ns) noexcept {
    driver_pid_.store(pid, std::memory_order_relaxed);
    driver_since_ns_.store(since_ns, std::memory_order_relaxed);
  }

  int64_t UptimeNs(int64_t now_ns) const noexcept {
    return std::max<int64_t>(now_ns - started_ns_, 0);
  }
  uint32_t observers() const noexcept { return observers_.load(std::memory_order_relaxed); }
  pid_t driver_pid() const noexcept { return driver_pid_.load(std::memory_order_relaxed); }
  // Since the driver got its role, at least 1; 0: nobody drives.
  int64_t DriverNs(int64_t now_ns) const noexcept {
    const int64_t since_ns = driver_since_ns_.load(std::memory_order_relaxed);
    return since_ns == 0 ? 0 : std::max<int64_t>(now_ns - since_ns, 1);
  }

 private:
  const int64_t started_ns_;
  std::atomic<uint32_t> observers_{0};
  std::atomic<pid_t> driver_pid_{0};
  std::atomic<int64_t> driver_since_ns_{0};
};

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_MESSAGES_WORKER_PRESENCE_H_
