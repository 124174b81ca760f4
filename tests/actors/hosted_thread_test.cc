#include "actors/runtime/hosted_thread.h"

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "actors/runtime/caf_compat.h"
#include "caf/actor_system.hpp"
#include "caf/all.hpp"
#include "gtest/gtest.h"

namespace superfluid {

// Run this.
struct RunTask {
  std::function<void()> task;
};
// End.
struct Leave {};

}  // namespace superfluid

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(superfluid::RunTask)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(superfluid::Leave)

namespace superfluid {
namespace {

using Runner = compat::Handle<caf::result<void>(RunTask), caf::result<void>(Leave)>;

struct RunnerState {
  static constexpr const char* name = "runner";
};

Runner::behavior_type RunnerBehavior(Runner::stateful_pointer<RunnerState> self,
                                     std::shared_ptr<std::atomic<int>> begun) {
  ++*begun;
  return {
      [](const RunTask& run) { run.task(); },
      [self](const Leave&) { self->quit(); },
  };
}

class HostedThreadTest : public testing::Test {
 protected:
  HostedThreadTest() {
    compat::UseSharingScheduler(config_, 2);
    system_.emplace(config_);
    link_ = std::make_unique<HostedThread>(*system_,
                                           HostedThread::Options{.name = "link", .throughput = 16});
    engine_ = std::make_unique<HostedThread>(
        *system_,
        HostedThread::Options{.name = "engine", .throughput = 1, .fallback = link_.get()});
  }
  ~HostedThreadTest() override {
    for (const Runner& runner : runners_) compat::SendFromOutside(runner, Leave{});
    runners_.clear();
    system_->await_all_actors_done();
    engine_ = nullptr;
    link_ = nullptr;
  }

  Runner Spawn(compat::Home home) {
    runners_.push_back(compat::Spawn(*system_, compat::Placement::Hosted(std::move(home)),
                                     RunnerBehavior, begun_));
    return runners_.back();
  }
  Runner SpawnOn(HostedThread& thread) {
    compat::Home home;
    home.thread = &thread;
    return Spawn(home);
  }
  Runner SpawnFloating() {
    return Spawn({.thread = link_.get(), .other = engine_.get(), .floats = floats_});
  }

  static void Send(const Runner& runner, std::function<void()> task) {
    compat::SendFromOutside(runner, RunTask{std::move(task)});
  }
  // The hosted thread on which the runner handles a message from outside.
  static HostedThread* ThreadOf(const Runner& runner) {
    HostedThread* thread = nullptr;
    absl::Notification ran;
    Send(runner, [&] {
      thread = HostedThread::Current();
      ran.Notify();
    });
    ran.WaitForNotification();
    return thread;
  }

  std::shared_ptr<std::atomic<int>> begun_ = std::make_shared<std::atomic<int>>(0);
  std::shared_ptr<std::atomic<bool>> floats_ = std::make_shared<std::atomic<bool>>(true);
  caf::actor_system_config config_;
  std::optional<caf::actor_system> system_;
  std::unique_ptr<HostedThread> link_;
  std::unique_ptr<HostedThread> engine_;
  std::vector<Runner> runners_;
};

TEST_F(HostedThreadTest, ActorsRunOnTheThreadThatTheyWerePlacedOn) {
  EXPECT_EQ(ThreadOf(SpawnOn(*link_)), link_.get());
  EXPECT_EQ(ThreadOf(SpawnOn(*engine_)), engine_.get());
  EXPECT_EQ(ThreadOf(SpawnOn(*link_)), link_.get());
  EXPECT_EQ(*begun_, 3);
}

TEST_F(HostedThreadTest, AMessageOfAnotherHostedActorDoesNotMoveTheReceiver) {
  const Runner receiver = SpawnOn(*link_);
  absl::Notification ran;
  HostedThread* thread = nullptr;
  Send(SpawnOn(*engine_), [&] {
    Send(receiver, [&] {
      thread = HostedThread::Current();
      ran.Notify();
    });
  });
  ran.WaitForNotification();
  EXPECT_EQ(thread, link_.get());
}

TEST_F(HostedThreadTest, NoMessageOfManyThreadsIsLostAndOneRunsAtATime) {
  constexpr int kThreads = 4;
  constexpr int kEach = 5000;
  const Runner counter = SpawnFloating();
  int count = 0;  // not atomic: the actor's state
  absl::Notification all;
  std::vector<std::thread> senders;
  for (int i = 0; i < kThreads; ++i) {
    senders.emplace_back([&] {
      for (int n = 0; n < kEach; ++n) {
        Send(counter, [&] {
          if (++count == 2 * kThreads * kEach) all.Notify();
        });
      }
    });
  }
  // The other half by actors of both hosted threads.
  for (int i = 0; i < kThreads; ++i) {
    const Runner relay = SpawnOn(i % 2 == 0 ? *link_ : *engine_);
    for (int n = 0; n < kEach; ++n) {
      Send(relay, [&, counter] {
        Send(counter, [&] {
          if (++count == 2 * kThreads * kEach) all.Notify();
        });
      });
    }
  }
  all.WaitForNotification();
  for (std::thread& sender : senders) sender.join();
  EXPECT_EQ(count, 2 * kThreads * kEach);
}

TEST_F(HostedThreadTest, AFloatingActorRunsWhereItWasMadeReady) {
  const Runner floating = SpawnFloating();
  EXPECT_EQ(ThreadOf(floating), link_.get()) << "from outside: its first home";
  absl::Notification ran;
  HostedThread* thread = nullptr;
  Send(SpawnOn(*engine_), [&] {
    Send(floating, [&] {
      thread = HostedThread::Current();
      ran.Notify();
    });
  });
  ran.WaitForNotification();
  EXPECT_EQ(thread, engine_.get());
}

TEST_F(HostedThreadTest, AnActorThatDoesNotFloatYetStaysAtHome) {
  *floats_ = false;
  const Runner floating = SpawnFloating();
  absl::Notification ran;
  HostedThread* thread = nullptr;
  Send(SpawnOn(*engine_), [&] {
    Send(floating, [&] {
      thread = HostedThread::Current();
      ran.Notify();
    });
  });
  ran.WaitForNotification();
  EXPECT_EQ(thread, link_.get());
}

// A notification inside the step: if the floating actor waited for the step it would never come.
TEST_F(HostedThreadTest, NothingThatFloatsWaitsForAStep) {
  const Runner floating = SpawnFloating();
  ThreadOf(floating);
  absl::Notification before_ran;
  absl::Notification inside_ran;
  absl::Notification over;
  Send(SpawnOn(*engine_), [&] {
    Send(floating, [&] { before_ran.Notify(); });  // ready here when the step begins
    {
      const ThreadStep step;
      before_ran.WaitForNotification();
      Send(floating, [&] { inside_ran.Notify(); });
      inside_ran.WaitForNotification();
    }
    EXPECT_FALSE(engine_->in_step());
    over.Notify();
  });
  over.WaitForNotification();
}

TEST_F(HostedThreadTest, WithThroughputOneAnActorsMessagesAlternateWithThoseOfOthers) {
  const Runner first = SpawnOn(*engine_);
  const Runner second = SpawnOn(*engine_);
  ThreadOf(first);
  ThreadOf(second);
  std::vector<int> order;
  absl::Notification done;
  Send(first, [&] {
    Send(second, [&] { order.push_back(2); });
    Send(first, [&] {
      order.push_back(1);
      Send(second, [&] { order.push_back(4); });
      Send(first, [&] {
        order.push_back(3);
        Send(second, [&] { done.Notify(); });
      });
    });
  });
  done.WaitForNotification();
  EXPECT_EQ(order, (std::vector<int>{2, 1, 4, 3}));
}

TEST_F(HostedThreadTest, ATurnIsOddAndEachIsAnother) {
  const Runner runner = SpawnOn(*link_);
  uint64_t first = 0;
  uint64_t second = 0;
  absl::Notification ran;
  Send(runner, [&] { first = link_->turn(); });
  ThreadOf(runner);
  while (link_->turn() % 2 == 1) std::this_thread::yield();  // what comes next is another turn's
  Send(runner, [&] {
    second = link_->turn();
    ran.Notify();
  });
  ran.WaitForNotification();
  EXPECT_EQ(first % 2, 1U);
  EXPECT_EQ(second % 2, 1U);
  EXPECT_GT(second, first);
}

TEST_F(HostedThreadTest, PostedTasksRunOnTheThread) {
  HostedThread* thread = nullptr;
  absl::Notification ran;
  engine_->Post([&] {
    thread = HostedThread::Current();
    ran.Notify();
  });
  ran.WaitForNotification();
  EXPECT_EQ(thread, engine_.get());
}

TEST_F(HostedThreadTest, AnActorThatIsPlacedOnThePoolByAHostedOneRunsThere) {
  HostedThread* thread = link_.get();
  absl::Notification ran;
  Send(SpawnOn(*link_), [&] {
    const Runner child =
        compat::Spawn(*system_, compat::Placement::kPooled, RunnerBehavior, begun_);
    Send(child, [&, child] {
      thread = HostedThread::Current();
      compat::SendFromOutside(child, Leave{});
      ran.Notify();
    });
  });
  ran.WaitForNotification();
  EXPECT_EQ(thread, nullptr);
}

TEST_F(HostedThreadTest, AnActorThatThrowsEndsAlone) {
  Send(SpawnOn(*link_), [] { throw std::runtime_error("as the test asked"); });
  EXPECT_EQ(ThreadOf(SpawnOn(*link_)), link_.get());
}

}  // namespace
}  // namespace superfluid
