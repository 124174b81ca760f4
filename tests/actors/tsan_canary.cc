// What ThreadSanitizer must report, and what it must not: tsan_canary handover|lock|race.
//
// handover and lock are right: a plain integer goes from thread to thread through the mailboxes of
// CAF, or behind a lock of abseil. A library that is not instrumented makes a report of them. race
// is wrong: the same integer without either, between actors whose other messages go through
// mailboxes all the time, which a suppression of `caf::*` would hide.
#include <iostream>
#include <memory>
#include <string_view>
#include <thread>

#include "absl/synchronization/mutex.h"
#include "actors/runtime/caf_compat.h"
#include "caf/actor_system.hpp"
#include "caf/all.hpp"

namespace superfluid {

// Counts once more in `count`, without a lock.
struct Count {
  std::shared_ptr<int> count;
};
struct Leave {};

}  // namespace superfluid

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(superfluid::Count)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(superfluid::Leave)

namespace superfluid {
namespace {

constexpr int kRounds = 200;

using Counter = compat::Handle<caf::result<void>(Count), caf::result<void>(Leave)>;

struct CounterState {
  static constexpr const char* name = "counter";
};

Counter::behavior_type CounterBehavior(Counter::stateful_pointer<CounterState> self) {
  return {
      [](const Count& request) { ++*request.count; },
      [self](const Leave&) { self->quit(); },
  };
}

// Two threads take turns with a lock.
int CountBehindALock() {
  absl::Mutex lock;
  int count = 0;
  auto run = [&] {
    for (int i = 0; i < kRounds; ++i) {
      absl::MutexLock hold(&lock);
      ++count;
    }
  };
  std::thread other(run);
  run();
  other.join();
  return count;
}

// Each of two actors, on the pool, counts kRounds times: one after the other, or both at once.
int CountWithActors(bool at_once) {
  caf::actor_system_config config;
  compat::UseSharingScheduler(config, 2);
  caf::actor_system system(config);
  auto count = std::make_shared<int>(0);
  {
    caf::scoped_actor self(system);
    const Counter first = system.spawn(CounterBehavior);
    const Counter second = system.spawn(CounterBehavior);
    for (int i = 0; i < kRounds; ++i) {
      if (at_once) {
        self->send(first, Count{count});
        self->send(second, Count{count});
        continue;
      }
      for (const Counter& counter : {first, second}) {
        self->request(counter, caf::infinite, Count{count})
            .receive([] {}, [](const caf::error&) {});
      }
    }
    self->send(first, Leave{});
    self->send(second, Leave{});
  }
  system.await_all_actors_done();
  return *count;
}

int Run(std::string_view what) {
  if (what == "lock") return CountBehindALock();
  if (what == "handover") return CountWithActors(false);
  if (what == "race") return CountWithActors(true);
  std::cerr << "usage: tsan_canary handover|lock|race\n";
  return -1;
}

}  // namespace
}  // namespace superfluid

int main(int argc, char** argv) {
  const int count = superfluid::Run(argc == 2 ? argv[1] : "");
  if (count < 0) return 2;
  std::cout << count << '\n';
  return 0;
}
