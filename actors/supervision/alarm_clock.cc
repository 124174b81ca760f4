#include "actors/supervision/alarm_clock.h"

#include <optional>

namespace superfluid {

void AlarmClockState::OnSet(const SetAlarm& set) {
  if (!monitored_.contains(set.owner.id())) {
    if (!compat::Monitor(self_, set.owner)) return;
    monitored_.insert(set.owner.id());
  }
  alarms_.Set({.owner = set.owner.id(), .slot = set.slot}, set.at_ns, set.ring);
  OnWake();
}

void AlarmClockState::OnCancel(const CancelAlarm& cancel) {
  alarms_.Cancel({.owner = cancel.owner.id(), .slot = cancel.slot});
}

void AlarmClockState::OnWake() {
  const int64_t now_ns = compat::NowNs(self_);
  for (const AlarmTable::Ring& ring : alarms_.TakeDue(now_ns)) ring();
  const std::optional<int64_t> wake_ns = alarms_.NextWake(now_ns);
  if (!wake_ns) return;
  compat::SendAfter(self_, AlarmClock(self_), absl::Nanoseconds(*wake_ns - now_ns),
                    WakeAlarmClock{});
}

void AlarmClockState::OnDown(const caf::down_msg& down) {
  monitored_.erase(down.source.id());
  alarms_.CancelAllOf(down.source.id());
}

AlarmClock::behavior_type AlarmClockBehavior(AlarmClock::stateful_pointer<AlarmClockState> self) {
  self->set_down_handler([self](const caf::down_msg& down) { self->state.OnDown(down); });
  return {
      [self](const SetAlarm& set) { self->state.OnSet(set); },
      [self](const CancelAlarm& cancel) { self->state.OnCancel(cancel); },
      [self](const WakeAlarmClock&) { self->state.OnWake(); },
  };
}

}  // namespace superfluid
