#include "actors/runtime/socket_watch.h"

#include <sys/mman.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "absl/synchronization/notification.h"
#include "actors/runtime/caf_compat.h"
#include "actors/runtime/hosted_thread.h"
#include "caf/actor_system.hpp"
#include "gtest/gtest.h"
#include "shm/owned_fd.h"

namespace superfluid {
namespace {

class SocketWatchTest : public testing::Test {
 protected:
  SocketWatchTest() {
    std::array<int, 2> pair{};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair.data()) != 0) {
      ADD_FAILURE() << "no sockets";
    }
    ours_ = OwnedFd(pair[0]);
    theirs_ = OwnedFd(pair[1]);
    watch_ = *SocketWatch::Make(*poller_, ours_.get());
  }
  ~SocketWatchTest() override { watch_->Stop(); }

  void Write() { EXPECT_EQ(send(theirs_.get(), "x", 1, MSG_NOSIGNAL), 1); }
  void Take() {
    std::array<char, 64> bytes{};
    EXPECT_GT(recv(ours_.get(), bytes.data(), bytes.size(), 0), 0);
  }
  // Fills the socket until it takes no more.
  void Fill() {
    const std::string block(4096, 'x');
    while (send(ours_.get(), block.data(), block.size(), MSG_NOSIGNAL) > 0) {
    }
  }

  std::shared_ptr<DescriptorPoller> poller_ = std::make_shared<DescriptorPoller>();
  OwnedFd ours_;
  OwnedFd theirs_;
  std::shared_ptr<SocketWatch> watch_;
  int called_ = 0;
  std::function<void()> count_ = [this] { ++called_; };
};

TEST_F(SocketWatchTest, CallsBackOnceHoweverLongTheSocketIsReadable) {
  watch_->WhenReadable(count_);
  poller_->Dispatch();
  EXPECT_EQ(called_, 0);
  Write();
  poller_->Dispatch();
  poller_->Dispatch();
  EXPECT_EQ(called_, 1);
  watch_->WhenReadable(count_);
  poller_->Dispatch();
  EXPECT_EQ(called_, 2) << "it still is";
}

TEST_F(SocketWatchTest, WaitsForReadingAndWritingAtOnce) {
  Fill();
  int writable = 0;
  watch_->WhenWritable([&writable] { ++writable; });
  watch_->WhenReadable(count_);
  Write();
  poller_->Dispatch();
  EXPECT_EQ(called_, 1);
  EXPECT_EQ(writable, 0);
  std::array<char, 4096> bytes{};
  while (recv(theirs_.get(), bytes.data(), bytes.size(), 0) > 0) {
  }
  poller_->Dispatch();
  EXPECT_EQ(writable, 1);
  EXPECT_EQ(called_, 1);
}

TEST_F(SocketWatchTest, TheEndOfThePeerCallsBothBack) {
  Fill();
  int writable = 0;
  watch_->WhenWritable([&writable] { ++writable; });
  watch_->WhenReadable(count_);
  theirs_.Reset();
  poller_->Dispatch();
  EXPECT_EQ(called_, 1);
  EXPECT_EQ(writable, 1);
  poller_->Dispatch();
  EXPECT_EQ(called_, 1);
}

// A peer that has only closed its sending half still reads.
TEST_F(SocketWatchTest, TheEndIsToldToWhoDoesNotReadAndAHalfClosedPeerIsNoEnd) {
  watch_->WhenGone(count_);
  Write();
  poller_->Dispatch();
  ASSERT_EQ(shutdown(theirs_.get(), SHUT_WR), 0);
  poller_->Dispatch();
  EXPECT_EQ(called_, 0);
  int readable = 0;
  watch_->WhenReadable([&readable] { ++readable; });
  poller_->Dispatch();
  EXPECT_EQ(readable, 1);
  theirs_.Reset();
  poller_->Dispatch();
  poller_->Dispatch();
  EXPECT_EQ(called_, 1);
  Take();  // what it sent is still there
}

TEST_F(SocketWatchTest, WhoWaitsForTheEndHearsOfItBehindOtherEvents) {
  watch_->WhenGone(count_);
  int writable = 0;
  watch_->WhenWritable([&writable] { ++writable; });
  poller_->Dispatch();
  EXPECT_EQ(writable, 1);
  theirs_.Reset();
  poller_->Dispatch();
  EXPECT_EQ(called_, 1);
}

TEST_F(SocketWatchTest, WhoTakesItBackIsNotToldOfTheEnd) {
  watch_->WhenGone(count_);
  watch_->WhenGone(nullptr);
  theirs_.Reset();
  poller_->Dispatch();
  EXPECT_EQ(called_, 0);
  watch_->WhenGone(count_);
  poller_->Dispatch();
  EXPECT_EQ(called_, 1) << "it is gone already";
}

TEST_F(SocketWatchTest, ASecondCallbackReplacesTheFirst) {
  int first = 0;
  watch_->WhenReadable([&first] { ++first; });
  watch_->WhenReadable(count_);
  Write();
  poller_->Dispatch();
  EXPECT_EQ(first, 0);
  EXPECT_EQ(called_, 1);
}

TEST_F(SocketWatchTest, AfterStopNothingIsCalled) {
  watch_->WhenReadable(count_);
  watch_->Stop();
  Write();
  poller_->Dispatch();
  watch_->WhenReadable(count_);
  poller_->Dispatch();
  EXPECT_EQ(called_, 0);
  EXPECT_EQ(watch_->BeginIdle(), -1);
}

TEST_F(SocketWatchTest, AFileIsRefused) {
  const OwnedFd file(memfd_create("file", MFD_CLOEXEC));
  EXPECT_EQ(SocketWatch::Make(*poller_, file.get()).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(SocketWatchTest, TheSecondThreadTakesTheSocketOverWhileItIsIdle) {
  watch_->WhenReadable(count_);
  EXPECT_EQ(watch_->BeginIdle(), ours_.get());
  Write();
  poller_->Dispatch();
  EXPECT_EQ(called_, 0) << "the poller does not look any more";
  watch_->OnReady();
  EXPECT_EQ(called_, 1);
  EXPECT_EQ(watch_->BeginIdle(), -1) << "nobody waits";
}

TEST_F(SocketWatchTest, TheSecondThreadHandsTheSocketOverForAStep) {
  watch_->WhenReadable(count_);
  watch_->BeginIdle();
  Write();
  watch_->HandOver();
  poller_->Dispatch();
  EXPECT_EQ(called_, 1) << "the bytes were there before";
}

TEST_F(SocketWatchTest, WithoutAReaderThereIsNothingToHandOver) {
  watch_->HandOver();
  Write();
  poller_->Dispatch();
  EXPECT_EQ(called_, 0);
  watch_->WhenReadable(count_);
  poller_->Dispatch();
  EXPECT_EQ(called_, 1);
}

// With real threads: `link` dispatches the poller, `engine` is the second.
class FloatingWatchTest : public SocketWatchTest {
 protected:
  FloatingWatchTest() {
    compat::UseSharingScheduler(config_, 1);
    system_ = std::make_unique<caf::actor_system>(config_);
    link_ = std::make_unique<HostedThread>(
        *system_, HostedThread::Options{.name = "link", .poller = poller_});
    engine_ = std::make_unique<HostedThread>(
        *system_, HostedThread::Options{.name = "engine", .fallback = link_.get()});
  }
  ~FloatingWatchTest() override {
    engine_ = nullptr;
    link_ = nullptr;
  }

  // The thread that sees the next byte.
  HostedThread* NextReader() {
    HostedThread* reader = nullptr;
    absl::Notification called;
    watch_->WhenReadable([&] {
      reader = HostedThread::Current();
      called.Notify();
    });
    Write();
    called.WaitForNotification();
    Take();
    return reader;
  }
  // Returns when the thread has handled what was posted to it before.
  static void Settle(HostedThread& thread) {
    absl::Notification done;
    thread.Post([&done] { done.Notify(); });
    done.WaitForNotification();
  }

  caf::actor_system_config config_;
  std::unique_ptr<caf::actor_system> system_;
  std::unique_ptr<HostedThread> link_;
  std::unique_ptr<HostedThread> engine_;
};

TEST_F(FloatingWatchTest, TheLinkThreadReadsWhatDoesNotFloat) {
  EXPECT_EQ(NextReader(), link_.get());
}

TEST_F(FloatingWatchTest, AnIdleSecondThreadReads) {
  watch_->FloatTo(*engine_);
  Settle(*engine_);
  // On the second thread: what it asks for there it polls itself before it sleeps.
  HostedThread* reader = nullptr;
  absl::Notification called;
  absl::Notification asked;
  engine_->Post([&] {
    watch_->WhenReadable([&] {
      reader = HostedThread::Current();
      called.Notify();
    });
    asked.Notify();
  });
  asked.WaitForNotification();
  Write();
  called.WaitForNotification();
  EXPECT_EQ(reader, engine_.get());
}

TEST_F(FloatingWatchTest, DuringAStepTheLinkThreadReads) {
  watch_->FloatTo(*engine_);
  Settle(*engine_);
  HostedThread* reader = nullptr;
  absl::Notification called;
  absl::Notification over;
  engine_->Post([&] {
    watch_->WhenReadable([&] {
      reader = HostedThread::Current();
      called.Notify();
    });
    const ThreadStep step;
    Write();
    called.WaitForNotification();
    over.Notify();
  });
  over.WaitForNotification();
  EXPECT_EQ(reader, link_.get());
}

// Neither thread may lose a byte, whoever watches when it comes.
TEST_F(FloatingWatchTest, NoByteIsMissedWhileStepsComeAndGo) {
  watch_->FloatTo(*engine_);
  std::atomic<bool> done = false;
  std::function<void()> step = [&] {
    { const ThreadStep inside; }
    if (!done) engine_->Post(step);
  };
  engine_->Post(step);
  for (int i = 0; i < 2000; ++i) ASSERT_NE(NextReader(), nullptr);
  done = true;
  Settle(*engine_);  // a last step may have been posted behind this
  Settle(*engine_);
}

}  // namespace
}  // namespace superfluid
