#ifndef SUPERFLUID_ACTORS_MESSAGES_ALARM_CLOCK_INTERFACE_H_
#define SUPERFLUID_ACTORS_MESSAGES_ALARM_CLOCK_INTERFACE_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>

#include "absl/time/time.h"
#include "actors/messages/type_ids.h"
#include "actors/runtime/caf_compat.h"

namespace superfluid {

// Calls `ring` at `at_ns` (monotonic), or up to a millisecond later. Replaces the alarm that this
// owner had in this slot. Forgotten when the owner ends. From any actor, through SetAlarmFor.
struct SetAlarm {
  compat::Address owner;
  uint32_t slot = 0;
  int64_t at_ns = 0;
  std::function<void()> ring;  // holds no actor strongly
};

// Forgets the owner's alarm in this slot; the message that it would have sent may be on its way.
struct CancelAlarm {
  compat::Address owner;
  uint32_t slot = 0;
};

// Looks at the alarms. To itself.
struct WakeAlarmClock {};

// Rings alarms of actors that may end before. See alarm_clock.h.
using AlarmClock = compat::Handle<caf::result<void>(SetAlarm), caf::result<void>(CancelAlarm),
                                  caf::result<void>(WakeAlarmClock)>;

// Sends `message` to `receiver`, the actor that calls, after `delay`, unless the alarm in `slot` is
// set anew or cancelled before. A pending alarm keeps neither the actor nor its thread.
template <class Self, class Receiver, class Message>
void SetAlarmFor(Self* self, const Receiver& receiver, const AlarmClock& clock, uint32_t slot,
                 absl::Duration delay, Message message) {
  const int64_t now_ns = compat::NowNs(self);
  const int64_t delay_ns = absl::ToInt64Nanoseconds(std::max(delay, absl::ZeroDuration()));
  const int64_t left_ns = std::numeric_limits<int64_t>::max() - now_ns;
  compat::Send(
      self, clock,
      SetAlarm{.owner = receiver.address(),
               .slot = slot,
               .at_ns = now_ns + std::min(delay_ns, left_ns),
               .ring = [weak = compat::Weak<Receiver>(receiver), message = std::move(message)] {
                 compat::SendFromOutside(weak.Lock(), message);
               }});
}

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_MESSAGES_ALARM_CLOCK_INTERFACE_H_
