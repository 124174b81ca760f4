#ifndef SUPERFLUID_ACTORS_MESSAGES_STEP_AGE_H_
#define SUPERFLUID_ACTORS_MESSAGES_STEP_AGE_H_

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace superfluid {

// How long the engine's step has shown no sign of life, as far as the watchdog can vouch for it: of
// the time between two of its looks at most kMostPeriods of its periods count. A watchdog that
// comes later than that did not run (the process was stopped, frozen or throttled, the machine
// suspended), and so did the engine not.
//
// Invariants:
//  1. A step that began before the last look and still runs has the age that it had then, and what
//     counts of the time since.
//  2. A step that began later counts from its beginning.
//  3. The age of one step never falls.
//
// Times are monotonic nanoseconds. Threads: Look the watchdog's; At any (the figures are read one
// by one; those of two looks make an age that is too small by a period at most).
class StepAge {
 public:
  static constexpr int64_t kMostPeriods = 2;

  // Returns the age at `now_ns` of the step that began, or last got on, at `began_ns` (0: none).
  // Without any Look all time counts.
  int64_t At(int64_t now_ns, int64_t began_ns) const noexcept {
    if (began_ns == 0) return 0;
    const int64_t looked_ns = looked_ns_.load(std::memory_order_acquire);
    if (looked_ns == 0) return std::max<int64_t>(now_ns - began_ns, 0);
    const bool same = began_ns == began_ns_.load(std::memory_order_relaxed);
    const int64_t from_ns =
        same ? counted_from_ns_.load(std::memory_order_relaxed) : std::max(began_ns, looked_ns);
    const int64_t until_ns = std::min(now_ns, counted_until_ns_.load(std::memory_order_relaxed));
    return std::max<int64_t>(until_ns - from_ns, 0);
  }

  // Notes the age at `now_ns` of the step that began, or last got on, at `began_ns` (0: none). The
  // watchdog calls this once each `period_ns`.
  void Look(int64_t now_ns, int64_t began_ns, int64_t period_ns) noexcept {
    counted_from_ns_.store(now_ns - At(now_ns, began_ns), std::memory_order_relaxed);
    began_ns_.store(began_ns, std::memory_order_relaxed);
    counted_until_ns_.store(now_ns + kMostPeriods * period_ns, std::memory_order_relaxed);
    looked_ns_.store(now_ns, std::memory_order_release);
  }

 private:
  std::atomic<int64_t> looked_ns_{0};         // 0: never
  std::atomic<int64_t> counted_until_ns_{0};  // later times count with the next look
  std::atomic<int64_t> began_ns_{0};          // of the step at the last look
  std::atomic<int64_t> counted_from_ns_{0};   // by which it has the age that it had then
};

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_MESSAGES_STEP_AGE_H_
