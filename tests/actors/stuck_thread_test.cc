// The watchdog over real threads: what hangs on a hosted thread outside of a step is seen as well.

#include <atomic>
#include <memory>
#include <optional>
#include <utility>

#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "actors/runtime/caf_compat.h"
#include "actors/runtime/worker_threads.h"
#include "actors/supervision/supervisor.h"
#include "caf/actor_system.hpp"
#include "caf/scoped_actor.hpp"
#include "engine/audio/blocking_thread_pool.h"
#include "engine/sim/sim_engine.h"
#include "gtest/gtest.h"

namespace superfluid {

// Waits until it is let go.
struct Hang {
  std::shared_ptr<absl::Notification> let_go;
};

}  // namespace superfluid

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(superfluid::Hang)

namespace superfluid {
namespace {

using Hanging = compat::Handle<caf::result<void>(Hang)>;

struct HangingState {
  static constexpr const char* name = "hanging";
};

Hanging::behavior_type HangingBehavior(Hanging::stateful_pointer<HangingState> self) {
  return {[self](const Hang& hang) {
    hang.let_go->WaitForNotification();
    self->quit();
  }};
}

class StuckThreadTest : public testing::Test {
 protected:
  StuckThreadTest() {
    compat::UseSharingScheduler(caf_config_, 1);
    system_.emplace(caf_config_);
    threads_.emplace(*system_, std::make_shared<DescriptorPoller>());
    WorkerConfig config;
    config.make_engine = [] { return MakeSimEngine(EngineConfig{}); };
    config.readers = std::make_shared<BlockingThreadPool>();
    config.threads = &*threads_;
    config.make_token = [] { return linkw::LinkToken{7}; };
    config.health_period = absl::Milliseconds(50);
    config.engine_stall = absl::Milliseconds(500);
    config.engine_kill = absl::Seconds(1);
    config.on_exit = [this](ExitCode code, const std::string&) {
      code_ = code;
      ended_.Notify();
    };
    config.on_engine_stuck = [this](absl::Duration age) {
      stuck_for_ = age;
      let_go_->Notify();
    };
    supervisor_ = compat::Spawn(*system_, compat::Placement::kDetached, SupervisorBehavior, config,
                                progress_);
    caf::scoped_actor self(*system_);
    compat::Request(self.ptr(), supervisor_, absl::Minutes(1), StartWorker{})
        .receive([](const WorkerStarted&) {}, [](const caf::error&) { FAIL(); });
  }
  ~StuckThreadTest() override {
    supervisor_ = nullptr;
    threads_.reset();
  }

  // Hangs one of the threads until the watchdog says that it is stuck.
  void ExpectSeen(HostedThread& thread) {
    compat::Home home;
    home.thread = &thread;
    compat::SendFromOutside(
        compat::Spawn(*system_, compat::Placement::Hosted(home), HangingBehavior), Hang{let_go_});
    ended_.WaitForNotification();
    EXPECT_TRUE(let_go_->HasBeenNotified());
    EXPECT_GT(stuck_for_, absl::Seconds(1));
    EXPECT_EQ(code_, ExitCode::kEngineStalled);
  }

  caf::actor_system_config caf_config_;
  std::optional<caf::actor_system> system_;
  std::optional<WorkerThreads> threads_;
  std::shared_ptr<EngineProgress> progress_ = std::make_shared<EngineProgress>();
  std::shared_ptr<absl::Notification> let_go_ = std::make_shared<absl::Notification>();
  absl::Notification ended_;
  absl::Duration stuck_for_;
  std::optional<ExitCode> code_;
  Supervisor supervisor_;
};

TEST_F(StuckThreadTest, AHangOnTheEnginesThreadOutsideOfAStepIsSeen) {
  ExpectSeen(threads_->engine());
}

TEST_F(StuckThreadTest, AHangOnTheLinksThreadIsSeen) { ExpectSeen(threads_->link()); }

}  // namespace
}  // namespace superfluid
