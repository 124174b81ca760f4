#include "tools/worker/outcome.h"

#include <stdexcept>

#include "actors/messages/supervisor_interface.h"
#include "actors/runtime/caf_compat.h"
#include "gtest/gtest.h"

namespace superfluid {
namespace {

// A supervisor that stops at the order to shut down, in one way or the other.
Supervisor::behavior_type Mortal(Supervisor::pointer self, Outcome* outcome) {
  return {
      [](const StartWorker&) { return WorkerStarted{}; },
      [](const BundleHashed&) {},
      [](const FramesConnected&) {},
      [](const DescriptorsConnected&) {},
      [](const ClaimRole&) { return RoleClaimed{}; },
      [](const ClaimOverdue&) {},
      [](const LinkEnding&) {},
      [](const LinkEnded&) {},
      [](const CheckHealth&) { throw std::runtime_error("no more threads"); },
      [self, outcome](const ShutDown&) {
        outcome->Set(ExitCode::kOk, "told to stop");
        self->quit();
      },
  };
}

class OutcomeTest : public testing::Test {
 protected:
  Supervisor Spawn() {
    Supervisor supervisor = compat::Spawn(system_, compat::Placement::kDetached, Mortal, &outcome_);
    SetAtEndOf(supervisor, outcome_);
    return supervisor;
  }
  void AwaitExit() {
    while (!outcome_.exited()) signals_.Wait();
  }

  SignalWaiter signals_ = *SignalWaiter::Create();
  Outcome outcome_{signals_};
  caf::actor_system_config config_;
  caf::actor_system system_{config_};
};

TEST_F(OutcomeTest, AWorkerWhoseSupervisorDiedEndsWithSeventy) {
  compat::SendFromOutside(Spawn(), CheckHealth{});
  AwaitExit();
  EXPECT_EQ(outcome_.code(), ExitCode::kEngineFailed);
  EXPECT_EQ(static_cast<int>(outcome_.code()), 70);
  EXPECT_NE(outcome_.reason().find("the supervisor failed"), std::string::npos);
}

TEST_F(OutcomeTest, AnOrderlyEndKeepsItsReason) {
  compat::SendFromOutside(Spawn(), ShutDown{});
  AwaitExit();
  EXPECT_EQ(outcome_.code(), ExitCode::kOk);
  EXPECT_EQ(outcome_.reason(), "told to stop");
}

}  // namespace
}  // namespace superfluid
