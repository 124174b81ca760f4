#ifndef SUPERFLUID_ACTORS_RUNTIME_CAF_COMPAT_H_
#define SUPERFLUID_ACTORS_RUNTIME_CAF_COMPAT_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "actors/runtime/hosted_thread.h"
#include "caf/actor_addr.hpp"
#include "caf/actor_cast.hpp"
#include "caf/actor_clock.hpp"
#include "caf/actor_system.hpp"
#include "caf/actor_system_config.hpp"
#include "caf/detail/init_fun_factory.hpp"
#include "caf/detail/spawnable.hpp"
#include "caf/infer_handle.hpp"
#include "caf/local_actor.hpp"
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

// The hosted thread that an actor runs on, or the two between which it floats: while `floats` is
// set it runs on the one of them that made it ready, unless that one is in a step.
struct Home {
  HostedThread* thread = nullptr;
  HostedThread* other = nullptr;
  std::shared_ptr<const std::atomic<bool>> floats;  // null: it does not

  bool MayFloat() const { return floats != nullptr && floats->load(std::memory_order_relaxed); }
  HostedThread* Pick() const {
    HostedThread* here = HostedThread::Current();
    const bool stays = here == other && here != nullptr && !here->in_step() && MayFloat();
    return stays ? here : thread;
  }
};

// Where an actor runs: on the pool, on a thread of its own, or on a hosted one. Under the
// deterministic scheduler of the tests everything is pooled, since other threads would escape it.
class Placement {
 public:
  static const Placement kPooled;
  static const Placement kDetached;
  static Placement Hosted(Home home) { return {Kind::kHosted, std::move(home)}; }

  bool detached() const { return kind_ == Kind::kDetached; }
  bool hosted() const { return kind_ == Kind::kHosted; }
  const Home& home() const { return home_; }

 private:
  enum class Kind { kPooled, kDetached, kHosted };

  Placement(Kind kind, Home home) : kind_(kind), home_(std::move(home)) {}

  Kind kind_;
  Home home_;
};

inline const Placement Placement::kPooled{Kind::kPooled, {}};
inline const Placement Placement::kDetached{Kind::kDetached, {}};

// An actor of class `Base` that runs at home, whoever sends to it: the execution unit that CAF
// passes to `enqueue` is the sender's.
template <class Base>
class HostedActor final : public Base, public MayFloat {
 public:
  HostedActor(caf::actor_config& config, Home home) : Base(config), home_(std::move(home)) {}

  using Base::enqueue;
  void enqueue(caf::mailbox_element_ptr message, caf::execution_unit* /*of the sender*/) override {
    Base::enqueue(std::move(message), home_.Pick());
  }
  bool floats() const override { return home_.MayFloat(); }

 private:
  const Home home_;
};

inline caf::actor_system& SystemOf(caf::actor_system& system) { return system; }
inline caf::actor_system& SystemOf(caf::local_actor& actor) { return actor.system(); }

// Spawns an actor on its home's thread, where it begins.
template <class Function, class... Args>
auto SpawnHosted(caf::actor_system& system, const Home& home, Function function, Args&&... args) {
  using Actor = caf::infer_impl_from_fun_t<Function>;
  static_assert(caf::detail::spawnable<Function, Actor, Args...>(), "wrong arguments");
  caf::actor_config config{home.thread};
  caf::detail::init_fun_factory<Actor, Function> factory;
  config.init_fun = factory(std::move(function), std::forward<Args>(args)...);
  return system.spawn_impl<HostedActor<Actor>, caf::no_spawn_options>(config, home);
}

// Spawns from a system or from an actor; `spawner` is a reference to either.
template <class Spawner, class Function, class... Args>
auto Spawn(Spawner& spawner, const Placement& placement, Function function, Args&&... args) {
  if (placement.hosted()) {
    return SpawnHosted(SystemOf(spawner), placement.home(), function, std::forward<Args>(args)...);
  }
  if (placement.detached()) {
    return spawner.template spawn<caf::detached>(function, std::forward<Args>(args)...);
  }
  return spawner.spawn(function, std::forward<Args>(args)...);
}

// The same; an empty handle if the system has no thread or memory left.
template <class Spawner, class Function, class... Args>
auto TrySpawn(Spawner& spawner, const Placement& placement, Function function, Args&&... args)
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

// Returns whether messages wait for `self` beside the one that it handles.
template <class Self>
bool HasMail(Self* self) {
  return !self->mailbox().empty();
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
