#ifndef SUPERFLUID_ACTORS_RUNTIME_CAF_COMPAT_H_
#define SUPERFLUID_ACTORS_RUNTIME_CAF_COMPAT_H_

#include <chrono>
#include <cstdint>
#include <exception>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "caf/actor_addr.hpp"
#include "caf/actor_cast.hpp"
#include "caf/actor_clock.hpp"
#include "caf/actor_system.hpp"
#include "caf/actor_system_config.hpp"
#include "caf/replies_to.hpp"
#include "caf/result.hpp"
#include "caf/send.hpp"
#include "caf/stateful_actor.hpp"
#include "caf/typed_actor.hpp"
#include "caf/typed_event_based_actor.hpp"
#include "caf/typed_response_promise.hpp"

// The one place that knows which CAF this is (0.17, Debian 12's). The rest of actors/ names message
// signatures in the newer form, `caf::result<Reply>(Request)`, and sends through the functions
// below, so that a newer CAF changes this file only.
namespace superfluid::compat {

template <class Signature>
struct SignatureMap;

template <class... Inputs>
struct SignatureMap<caf::result<void>(Inputs...)> {
  using Type = caf::reacts_to<Inputs...>;
};

template <class... Outputs, class... Inputs>
struct SignatureMap<caf::result<Outputs...>(Inputs...)> {
  using Type = typename caf::replies_to<Inputs...>::template with<Outputs...>;
};

// A typed actor handle: `Handle<caf::result<void>(Tell), caf::result<Answer>(Ask)>`.
template <class... Signatures>
using Handle = caf::typed_actor<typename SignatureMap<Signatures>::Type...>;

// Where an actor runs: on the pool, or on a thread of its own. Under the deterministic scheduler of
// the tests everything is pooled, since a detached actor would escape it.
enum class Placement { kPooled, kDetached };

// Spawns from a system or from an actor; `spawner` is a reference to either.
template <class Spawner, class Function, class... Args>
auto Spawn(Spawner& spawner, Placement placement, Function function, Args&&... args) {
  if (placement == Placement::kDetached) {
    return spawner.template spawn<caf::detached>(function, std::forward<Args>(args)...);
  }
  return spawner.spawn(function, std::forward<Args>(args)...);
}

// The same; an empty handle if the system has no thread or memory left.
template <class Spawner, class Function, class... Args>
auto TrySpawn(Spawner& spawner, Placement placement, Function function, Args&&... args)
    -> decltype(Spawn(spawner, placement, function, std::forward<Args>(args)...)) {
  try {
    return Spawn(spawner, placement, function, std::forward<Args>(args)...);
  } catch (const std::exception&) {
    return {};
  }
}

template <class Self, class Dest, class Message>
void Send(Self* self, const Dest& dest, Message&& message) {
  if (dest) self->send(dest, std::forward<Message>(message));
}

// Overtakes the ordinary messages in the receiver's mailbox, but never preempts a running handler.
template <class Self, class Dest, class Message>
void SendUrgent(Self* self, const Dest& dest, Message&& message) {
  if (dest) {
    self->template send<caf::message_priority::high>(dest, std::forward<Message>(message));
  }
}

// From outside any actor (a callback, a thread of a test, main).
template <class Dest, class Message>
void SendFromOutside(const Dest& dest, Message&& message) {
  if (dest) caf::anon_send(dest, std::forward<Message>(message));
}

// Cannot be cancelled, and keeps the receiver and its thread alive until it fires.
// REQUIRES: the receiver lives as long as the process, and has a bounded number of these under way.
// (Others set an alarm: alarm_clock_interface.h.)
template <class Self, class Dest, class Message>
void SendAfter(Self* self, const Dest& dest, absl::Duration delay, Message&& message) {
  self->delayed_send(dest, absl::ToChronoNanoseconds(delay), std::forward<Message>(message));
}

// Does not keep its actor alive: for callbacks that others hold.
template <class HandleType>
class Weak {
 public:
  explicit Weak(const HandleType& handle) : address_(handle.address()) {}

  // Invalid if the actor is gone.
  HandleType Lock() const {
    auto strong = caf::actor_cast<caf::strong_actor_ptr>(address_);
    return strong ? caf::actor_cast<HandleType>(strong) : HandleType{};
  }

 private:
  caf::actor_addr address_;
};

// Who an actor is; keeps nothing alive.
using Address = caf::actor_addr;

// Has `self` get a down message when the actor ends. Returns false if it has ended.
template <class Self>
bool Monitor(Self* self, const Address& address) {
  const auto actor = caf::actor_cast<caf::strong_actor_ptr>(address);
  if (actor) self->monitor(actor);
  return actor != nullptr;
}

// Leaves a timer behind until the time-out or the end of `self`, however early the answer comes:
// for what is rare. Every request has a finite time-out. Continue with `.then(on_reply, on_error)`.
template <class Self, class Dest, class Message>
auto Request(Self* self, const Dest& dest, absl::Duration timeout, Message&& message) {
  return self->request(dest, absl::ToChronoNanoseconds(timeout), std::forward<Message>(message));
}

// The actor system's monotonic clock in nanoseconds: real time, or the virtual time of a test.
template <class Self>
int64_t NowNs(Self* self) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             self->system().clock().now().time_since_epoch())
      .count();
}

// The scheduler that the worker needs: `stealing`, CAF's default, sleeps between polls.
inline void UseSharingScheduler(caf::actor_system_config& config, size_t threads) {
  config.set("scheduler.policy", caf::atom("sharing"));
  config.set("scheduler.max-threads", threads);
}

// CAF's deterministic scheduler, for tests and simulation.
inline void UseTestScheduler(caf::actor_system_config& config) {
  config.set("scheduler.policy", caf::atom("testing"));
}

}  // namespace superfluid::compat

#endif  // SUPERFLUID_ACTORS_RUNTIME_CAF_COMPAT_H_
