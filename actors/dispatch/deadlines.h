#ifndef SUPERFLUID_ACTORS_DISPATCH_DEADLINES_H_
#define SUPERFLUID_ACTORS_DISPATCH_DEADLINES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace superfluid {

// The deadlines of a link's open requests, for one alarm that is set to the earliest of them, or
// earlier. Times are monotonic nanoseconds. Threads: one.
class Deadlines {
 public:
  void Add(uint64_t seq, int64_t deadline_ns) {
    Remove(seq);
    by_time_.emplace(deadline_ns, seq);
    by_seq_.emplace(seq, deadline_ns);
  }

  void Remove(uint64_t seq) {
    const auto it = by_seq_.find(seq);
    if (it == by_seq_.end()) return;
    by_time_.erase({it->second, seq});
    by_seq_.erase(it);
  }

  // Removes and returns the requests whose deadline is not after `now_ns`.
  std::vector<uint64_t> TakePassed(int64_t now_ns) {
    std::vector<uint64_t> passed;
    while (!by_time_.empty() && by_time_.begin()->first <= now_ns) {
      passed.push_back(by_time_.begin()->second);
      Remove(passed.back());
    }
    return passed;
  }

  // Returns the time that the alarm has to be set to, in place of a later one, if it is not set to
  // that or an earlier time already.
  std::optional<int64_t> NextTimer() {
    if (by_time_.empty()) return std::nullopt;
    const int64_t earliest = by_time_.begin()->first;
    if (timer_ns_ != 0 && timer_ns_ <= earliest) return std::nullopt;
    timer_ns_ = earliest;
    return earliest;
  }

  // Notes that the alarm rang, or that it is not known for when it is set.
  void TimerFired() { timer_ns_ = 0; }

 private:
  std::set<std::pair<int64_t, uint64_t>> by_time_;
  std::map<uint64_t, int64_t> by_seq_;
  int64_t timer_ns_ = 0;  // the time that the alarm is set to; 0: none
};

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_DISPATCH_DEADLINES_H_
