#ifndef SUPERFLUID_PROTOCOL_MESSAGES_DEADLINE_H_
#define SUPERFLUID_PROTOCOL_MESSAGES_DEADLINE_H_

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace superfluid::linkw {

// Returns the time on a clock that nobody sets: only differences mean something.
inline absl::Duration MonotonicNow() {
  return absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch());
}

// The end of a wait, on the monotonic clock: whoever sets the machine's clock meanwhile neither
// shortens nor prolongs it. A value.
class Deadline {
 public:
  // As far ahead as `time` is by the wall clock at this moment.
  Deadline(absl::Time time)  // NOLINT(google-explicit-constructor): callers may think in times
      : Deadline(After(time - absl::Now())) {}

  // InfiniteDuration: never.
  static Deadline After(absl::Duration duration) { return Deadline(MonotonicNow() + duration); }
  static Deadline Never() { return Deadline(absl::InfiniteDuration()); }

  // Returns the time until then, at least 0.
  absl::Duration left() const { return std::max(at_ - MonotonicNow(), absl::ZeroDuration()); }
  bool passed() const { return left() == absl::ZeroDuration(); }

  // Waits on `changed` until `done` returns true or the deadline has passed; returns done().
  template <typename Predicate>
  bool Await(std::condition_variable& changed, std::unique_lock<std::mutex>& lock,
             Predicate done) const {
    // Beyond it the time in nanoseconds would overflow.
    constexpr absl::Duration kLongest = absl::Hours(24 * 365 * 100);
    if (left() > kLongest) {
      changed.wait(lock, done);
      return true;
    }
    return changed.wait_until(
        lock, std::chrono::steady_clock::time_point(absl::ToChronoNanoseconds(at_)), done);
  }

 private:
  explicit Deadline(absl::Duration at) : at_(at) {}

  absl::Duration at_;  // on the monotonic clock
};

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_PROTOCOL_MESSAGES_DEADLINE_H_
