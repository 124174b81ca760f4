#include "actors/supervision/alarm_table.h"

#include <algorithm>
#include <limits>

namespace superfluid {
namespace {

int64_t RoundUp(int64_t at_ns) {
  if (at_ns > std::numeric_limits<int64_t>::max() - AlarmTable::kGrain) return at_ns;
  return (at_ns + AlarmTable::kGrain - 1) / AlarmTable::kGrain * AlarmTable::kGrain;
}

}  // namespace

void AlarmTable::Set(Id id, int64_t at_ns, Ring ring) {
  Cancel(id);
  by_time_.emplace(at_ns, id);
  alarms_.emplace(id, Alarm{.at_ns = at_ns, .ring = std::move(ring)});
}

void AlarmTable::Cancel(Id id) {
  if (const auto it = alarms_.find(id); it != alarms_.end()) Remove(it);
}

void AlarmTable::CancelAllOf(uint64_t owner) {
  auto it = alarms_.lower_bound({.owner = owner, .slot = 0});
  while (it != alarms_.end() && it->first.owner == owner) it = Remove(it);
}

std::vector<AlarmTable::Ring> AlarmTable::TakeDue(int64_t now_ns) {
  std::vector<Ring> due;
  while (!by_time_.empty() && by_time_.begin()->first <= now_ns) {
    const auto it = alarms_.find(by_time_.begin()->second);
    due.push_back(std::move(it->second.ring));
    Remove(it);
  }
  return due;
}

std::optional<int64_t> AlarmTable::NextWake(int64_t now_ns) {
  wakes_.erase(wakes_.begin(), wakes_.upper_bound(now_ns));
  if (by_time_.empty()) return std::nullopt;
  const int64_t wanted = RoundUp(std::min(by_time_.begin()->first, now_ns + kFarthestWake));
  if (!wakes_.empty() && *wakes_.begin() <= wanted) return std::nullopt;
  wakes_.insert(wanted);
  return wanted;
}

AlarmTable::Alarms::iterator AlarmTable::Remove(Alarms::iterator it) {
  by_time_.erase({it->second.at_ns, it->first});
  return alarms_.erase(it);
}

}  // namespace superfluid
