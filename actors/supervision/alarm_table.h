#ifndef SUPERFLUID_ACTORS_SUPERVISION_ALARM_TABLE_H_
#define SUPERFLUID_ACTORS_SUPERVISION_ALARM_TABLE_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace superfluid {

// The alarms of all actors that may end before their alarms ring, and the wakes that the table's
// own clock has to be asked for. Times are monotonic nanoseconds. Threads: one.
//
// Invariants:
//  1. An owner has one alarm a slot: a new one replaces the old one.
//  2. Of the wakes that were asked for and have not come, each is earlier than those asked for
//     before it, none is further away than kFarthestWake, and no two lie in one kGrain: so their
//     number is bounded, whatever is set and cancelled.
class AlarmTable {
 public:
  // Who set an alarm, and which of that owner's alarms it is.
  struct Id {
    uint64_t owner = 0;
    uint32_t slot = 0;

    friend auto operator<=>(const Id&, const Id&) = default;  // NOLINT(modernize-use-nullptr)
  };
  using Ring = std::function<void()>;

  static constexpr int64_t kGrain = 1'000'000;  // alarms ring up to so much late, never early
  static constexpr int64_t kFarthestWake = 1'000'000'000;

  // Sets the alarm `id`, in place of an earlier one.
  void Set(Id id, int64_t at_ns, Ring ring);

  // Removes the alarm `id`, if it is set.
  void Cancel(Id id);

  // Removes every alarm of an owner.
  void CancelAllOf(uint64_t owner);

  // Removes and returns what is due, the earliest first.
  std::vector<Ring> TakeDue(int64_t now_ns);

  // Returns the time of a wake that has to be asked for now, if the earliest alarm needs one more.
  // REQUIRES: alarms that are due at `now_ns` have been taken.
  std::optional<int64_t> NextWake(int64_t now_ns);

  size_t size() const { return alarms_.size(); }
  size_t pending_wakes() const { return wakes_.size(); }

 private:
  struct Alarm {
    int64_t at_ns = 0;
    Ring ring;
  };
  using Alarms = std::map<Id, Alarm>;

  Alarms::iterator Remove(Alarms::iterator it);

  Alarms alarms_;
  std::set<std::pair<int64_t, Id>> by_time_;
  std::set<int64_t> wakes_;  // asked for, and not past at the last look
};

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_SUPERVISION_ALARM_TABLE_H_
