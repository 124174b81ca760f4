#ifndef SUPERFLUID_ACTORS_SUPERVISION_ALARM_CLOCK_H_
#define SUPERFLUID_ACTORS_SUPERVISION_ALARM_CLOCK_H_

#include <set>

#include "actors/messages/alarm_clock_interface.h"
#include "actors/supervision/alarm_table.h"

namespace superfluid {

// The timer of every actor that may end before its timer fires (those of links). The actor system's
// own delayed messages cannot be taken back, and each keeps its receiver and that receiver's thread
// until it fires; so only actors that live as long as the process use them, this one among them.
//
// Holds owners weakly and monitors them: what an owner set ends with it. On the links' thread:
// deadlines do not wait for engine or pool.
class AlarmClockState {
 public:
  static constexpr const char* name = "alarm-clock";

  explicit AlarmClockState(AlarmClock::pointer self) : self_(self) {}

  void OnSet(const SetAlarm& set);
  void OnCancel(const CancelAlarm& cancel);
  void OnWake();
  void OnDown(const caf::down_msg& down);

 private:
  AlarmClock::pointer self_;
  AlarmTable alarms_;
  std::set<uint64_t> monitored_;  // owners
};

AlarmClock::behavior_type AlarmClockBehavior(AlarmClock::stateful_pointer<AlarmClockState> self);

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_SUPERVISION_ALARM_CLOCK_H_
