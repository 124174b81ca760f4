#ifndef SUPERFLUID_ACTORS_SUPERVISION_TURN_AGE_H_
#define SUPERFLUID_ACTORS_SUPERVISION_TURN_AGE_H_

#include <cstdint>

#include "actors/messages/step_age.h"

namespace superfluid {

// How long an actor has had its turn on a hosted thread (HostedThread::turn), as the watchdog sees
// it from outside: a turn counts from the first look that finds it. Times are monotonic
// nanoseconds. Threads: the watchdog's.
class TurnAge {
 public:
  // Returns the age at `now_ns`. A turn that is watched in another way for now (a step of the
  // engine) does not age, and neither does an even one, which is none.
  int64_t Look(int64_t now_ns, uint64_t turn, bool watched_otherwise, int64_t period_ns) {
    const bool counts = turn % 2 == 1 && !watched_otherwise;
    if (!counts) {
      began_ns_ = 0;
    } else if (began_ns_ == 0 || turn != turn_) {
      began_ns_ = now_ns;
    }
    turn_ = turn;
    age_.Look(now_ns, began_ns_, period_ns);
    return age_.At(now_ns, began_ns_);
  }

 private:
  StepAge age_;
  uint64_t turn_ = 0;
  int64_t began_ns_ = 0;  // 0: none
};

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_SUPERVISION_TURN_AGE_H_
