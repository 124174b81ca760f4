#include "engine/audio/blocking_thread_pool.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/notification.h"

namespace superfluid {
namespace {

using absl::Notification;

// A pool whose hung tasks are let go at the end.
class BlockingThreadPoolTest : public testing::Test {
 protected:
  ~BlockingThreadPoolTest() override {
    Release();
    EXPECT_EQ(pool_->Stop(absl::Minutes(1)), 0u);
  }

  void MakePool(const BlockingThreadPool::Options& options) {
    pool_ = std::make_unique<BlockingThreadPool>(options);
  }
  // Begins a task that hangs until Release.
  void Hang() {
    auto entered = std::make_shared<Notification>();
    ASSERT_TRUE(pool_
                    ->Begin([entered, release = release_] {
                      entered->Notify();
                      release->WaitForNotification();
                    })
                    .ok());
    entered->WaitForNotification();
  }
  void Release() {
    if (!release_->HasBeenNotified()) release_->Notify();
  }

  std::unique_ptr<BlockingThreadPool> pool_ = std::make_unique<BlockingThreadPool>();
  std::shared_ptr<Notification> release_ = std::make_shared<Notification>();
};

TEST_F(BlockingThreadPoolTest, AHungTaskHoldsUpNoOther) {
  for (int i = 0; i < 20; ++i) Hang();
  Notification done;
  ASSERT_TRUE(pool_->Begin([&] { done.Notify(); }).ok());
  EXPECT_TRUE(done.WaitForNotificationWithTimeout(absl::Minutes(1)));
  EXPECT_GE(pool_->load().threads, 20u);
}

// A thread that was called has to call the next one, whatever becomes of its own task.
TEST_F(BlockingThreadPoolTest, TasksThatCameTogetherRunSideBySide) {
  for (int round = 0; round < 2; ++round) {
    constexpr int kTasks = 10;
    absl::BlockingCounter entered(kTasks);
    for (int i = 0; i < kTasks; ++i) {
      ASSERT_TRUE(pool_
                      ->Begin([&entered, release = release_] {
                        entered.DecrementCount();
                        release->WaitForNotification();
                      })
                      .ok());
    }
    entered.Wait();
    Release();
    while (pool_->load().waiting > 0) std::this_thread::yield();
    release_ = std::make_shared<Notification>();
  }
}

TEST_F(BlockingThreadPoolTest, BeyondTheLimitOfThreadsTasksWait) {
  MakePool({.max_threads = 2});
  Hang();
  Hang();
  Notification done;
  ASSERT_TRUE(pool_->Begin([&] { done.Notify(); }).ok());
  EXPECT_EQ(pool_->load().waiting, 1u);
  EXPECT_EQ(pool_->load().threads, 2u);
  Release();
  EXPECT_TRUE(done.WaitForNotificationWithTimeout(absl::Minutes(1)));
}

TEST_F(BlockingThreadPoolTest, BeyondTheLimitOfWaitingTasksANewOneIsRefusedAndAnOldOneIsNot) {
  MakePool({.max_threads = 1, .max_waiting = 1});
  Hang();
  ASSERT_TRUE(pool_->Begin([] {}).ok());
  EXPECT_EQ(pool_->Begin([] {}).code(), absl::StatusCode::kResourceExhausted);
  Notification done;
  pool_->Continue([&] { done.Notify(); });
  Release();
  EXPECT_TRUE(done.WaitForNotificationWithTimeout(absl::Minutes(1)));
}

TEST_F(BlockingThreadPoolTest, AnIdleThreadTakesTheNextTask) {
  std::thread::id first;
  std::thread::id second;
  Notification one;
  Notification two;
  ASSERT_TRUE(pool_
                  ->Begin([&] {
                    first = std::this_thread::get_id();
                    pool_->Continue([&] {
                      second = std::this_thread::get_id();
                      two.Notify();
                    });
                    one.Notify();
                  })
                  .ok());
  two.WaitForNotification();
  one.WaitForNotification();
  EXPECT_LE(pool_->load().threads, 2u);
}

TEST_F(BlockingThreadPoolTest, IdleThreadsEnd) {
  MakePool({.idle_time = absl::ZeroDuration()});
  Notification done;
  ASSERT_TRUE(pool_->Begin([&] { done.Notify(); }).ok());
  done.WaitForNotification();
  while (pool_->load().threads > 0) std::this_thread::yield();
}

TEST_F(BlockingThreadPoolTest, StopLeavesTheHungBehindAndCountsThem) {
  Hang();
  ASSERT_TRUE(pool_->Begin([] {}).ok());
  EXPECT_EQ(pool_->Stop(absl::Milliseconds(1)) > 0, true);
  EXPECT_EQ(pool_->Begin([] {}).code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(BlockingThreadPoolTest, WhatWaitsAtTheEndIsDroppedAndMayContinue) {
  MakePool({.max_threads = 1});
  Hang();
  struct Last {
    ~Last() {
      pool->Continue([] {});
      *gone = true;
    }
    BlockingThreadPool* pool;
    bool* gone;
  };
  bool gone = false;
  auto last = std::make_shared<Last>(pool_.get(), &gone);
  ASSERT_TRUE(pool_->Begin([last] {}).ok());
  last.reset();
  pool_->Stop(absl::ZeroDuration());
  EXPECT_TRUE(gone);
}

TEST_F(BlockingThreadPoolTest, TheThreadOfATaskThatNeverReturnsOutlivesThePool) {
  Hang();
  pool_ = std::make_unique<BlockingThreadPool>();  // the old one is gone
  Release();
}

}  // namespace
}  // namespace superfluid
