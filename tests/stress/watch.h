#ifndef SUPERFLUID_TESTS_STRESS_WATCH_H_
#define SUPERFLUID_TESTS_STRESS_WATCH_H_

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "protocol/messages/messages.h"
#include "tests/stress/tally.h"

namespace superfluid::stress {

// Resident memory of a process, in bytes; 0 if it is gone.
uint64_t ResidentBytes(pid_t pid);

struct WatchLimits {
  absl::Duration slowest_pong = absl::Seconds(2);
  uint64_t most_growth = uint64_t{512} << 20;  // of resident memory, bytes
};

// Watches a worker from an observer's link and from outside, on a thread of its own: PING is
// answered in time, counters never go back, memory stays within bounds. Fails the run otherwise.
// Latency: ping.answered.
class Watch {
 public:
  // `growth` counts from what the process has now.
  Watch(const std::string& socket, pid_t pid, WatchLimits limits, Tally& tally);
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch();

  uint64_t start_bytes() const { return start_; }
  uint64_t peak_bytes() const { return peak_; }

 private:
  void Run();
  void Look(const linkw::Pong& pong);

  const std::string socket_;
  const pid_t pid_;
  const WatchLimits limits_;
  Tally& tally_;
  const uint64_t start_;
  std::atomic<uint64_t> peak_;
  linkw::Pong last_;
  absl::Notification stop_;
  std::thread thread_;
};

}  // namespace superfluid::stress

#endif  // SUPERFLUID_TESTS_STRESS_WATCH_H_
