#include "tools/ctl/base/stop_watcher.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <functional>
#include <future>

namespace superfluid::ctl {
namespace {

class StopWatcherTest : public testing::Test {
 protected:
  std::function<void(StopReason)> TakeReason() {
    return [this](StopReason reason) { told_.set_value(reason); };  // a second call would throw
  }
  StopReason WaitForReason() { return told_.get_future().get(); }

 private:
  std::promise<StopReason> told_;
};

TEST_F(StopWatcherTest, IsSilentWithoutAReason) {
  StopWatcher watcher({}, [](StopReason) { ADD_FAILURE(); });
  EXPECT_EQ(watcher.reason(), StopReason::kNone);
  EXPECT_EQ(watcher.since_stop(), std::nullopt);
}

TEST_F(StopWatcherTest, HearsSigint) {
  StopWatcher watcher({}, TakeReason());
  kill(getpid(), SIGINT);
  EXPECT_EQ(WaitForReason(), StopReason::kInterrupt);
  EXPECT_EQ(watcher.reason(), StopReason::kInterrupt);
  EXPECT_GE(watcher.since_stop(), absl::ZeroDuration());
}

TEST_F(StopWatcherTest, HearsSigterm) {
  StopWatcher watcher({}, TakeReason());
  kill(getpid(), SIGTERM);
  EXPECT_EQ(WaitForReason(), StopReason::kTerminate);
}

TEST_F(StopWatcherTest, HearsThatTheTerminalIsGone) {
  StopWatcher watcher({}, TakeReason());
  kill(getpid(), SIGHUP);
  EXPECT_EQ(WaitForReason(), StopReason::kHangUp);
}

TEST_F(StopWatcherTest, HearsSigquit) {
  StopWatcher watcher({}, TakeReason());
  kill(getpid(), SIGQUIT);
  EXPECT_EQ(WaitForReason(), StopReason::kQuit);
}

TEST_F(StopWatcherTest, LeavesAHangUpIgnoredAsNohupWantsIt) {
  ASSERT_NE(std::signal(SIGHUP, SIG_IGN), SIG_ERR);  // NOLINT(performance-no-int-to-ptr)
  {
    StopWatcher watcher({}, TakeReason());
    kill(getpid(), SIGHUP);
    kill(getpid(), SIGTERM);
    EXPECT_EQ(WaitForReason(), StopReason::kTerminate);
  }
  EXPECT_EQ(std::signal(SIGHUP, SIG_DFL), SIG_IGN);
}

TEST_F(StopWatcherTest, HearsItsTimer) {
  StopWatcher watcher({.after = absl::ZeroDuration()}, TakeReason());
  EXPECT_EQ(WaitForReason(), StopReason::kTimer);
}

TEST_F(StopWatcherTest, DoesNotWaitForItsTimerWhenItGoes) {
  StopWatcher watcher({.after = absl::Hours(1)}, [](StopReason) { ADD_FAILURE(); });
}

TEST_F(StopWatcherTest, SeesThatNobodyReadsTheOutput) {
  std::array<int, 2> fds = {};
  ASSERT_EQ(pipe2(fds.data(), O_CLOEXEC), 0);
  StopWatcher watcher({.output_fd = fds[1]}, TakeReason());
  close(fds[0]);
  EXPECT_EQ(WaitForReason(), StopReason::kOutputClosed);
  close(fds[1]);
}

TEST_F(StopWatcherTest, DoesNotMindAnOutputThatCannotBeWatched) {
  const int file = open("/dev/null", O_WRONLY | O_CLOEXEC);
  {
    StopWatcher watcher({.output_fd = file}, [](StopReason) { ADD_FAILURE(); });
  }
  close(file);
  StopWatcher watcher({.output_fd = file}, TakeReason());  // not open at all
  kill(getpid(), SIGINT);
  EXPECT_EQ(WaitForReason(), StopReason::kInterrupt);
}

TEST_F(StopWatcherTest, KeepsTheFirstReason) {
  StopWatcher watcher({}, TakeReason());
  watcher.Stop(StopReason::kLocalFailure);
  watcher.Stop(StopReason::kOutputClosed);
  EXPECT_EQ(watcher.reason(), StopReason::kLocalFailure);
  EXPECT_EQ(WaitForReason(), StopReason::kLocalFailure);
}

TEST_F(StopWatcherTest, GivesSignalsTheirFormerMeaningBack) {
  ASSERT_NE(std::signal(SIGINT, SIG_IGN), SIG_ERR);  // NOLINT(performance-no-int-to-ptr)
  {
    StopWatcher watcher({}, [](StopReason) { ADD_FAILURE(); });
  }
  kill(getpid(), SIGINT);  // would end the test
  EXPECT_EQ(std::signal(SIGINT, SIG_DFL), SIG_IGN);
}

// In a child: ends the process, whatever the callback is busy with.
int ExitCodeAfterTwoSignals(int second) {
  const pid_t child = fork();
  if (child == 0) {
    std::promise<void> called;
    StopWatcher watcher({}, [&](StopReason) {
      called.set_value();
      while (true) pause();
    });
    kill(getpid(), SIGINT);
    called.get_future().wait();
    kill(getpid(), second);
    while (true) pause();
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(StopWatcherTest, QuitsAtOnceOnASecondSignal) {
  EXPECT_EQ(ExitCodeAfterTwoSignals(SIGINT), 130);
  EXPECT_EQ(ExitCodeAfterTwoSignals(SIGTERM), 143);
}

}  // namespace
}  // namespace superfluid::ctl
