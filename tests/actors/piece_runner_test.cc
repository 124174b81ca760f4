#include "actors/state_ops/piece_runner.h"

#include <deque>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "gtest/gtest.h"

namespace superfluid {
namespace {

// Keeps tasks until the test runs them.
class ManualExecutor : public BlockingExecutor {
 public:
  bool is_full = false;
  std::deque<Task> tasks;

  absl::Status Begin(Task task) override {
    if (is_full) return absl::ResourceExhaustedError("full");
    tasks.push_back(std::move(task));
    return absl::OkStatus();
  }
  void Continue(Task task) override { tasks.push_back(std::move(task)); }
  void RunOne() {
    const Task task = std::move(tasks.front());
    tasks.pop_front();
    task();
  }
};

class PieceRunnerTest : public testing::Test {
 protected:
  // Work of `parts` parts, each of which appends `name` to log_.
  PieceRunner::Work Work(char name, int parts) {
    return [this, name, parts]() mutable {
      log_ += name;
      return --parts > 0;
    };
  }
  void RunAll() {
    while (!executor_->tasks.empty()) executor_->RunOne();
  }

  std::shared_ptr<ManualExecutor> executor_ = std::make_shared<ManualExecutor>();
  std::shared_ptr<PieceRunner> runner_ = std::make_shared<PieceRunner>(executor_, 2);
  std::string log_;
};

TEST_F(PieceRunnerTest, SmallWorkDoesNotWaitForLargeWork) {
  ASSERT_TRUE(runner_->Begin(Work('a', 100)).ok());
  ASSERT_TRUE(runner_->Begin(Work('b', 100)).ok());
  ASSERT_TRUE(runner_->Begin(Work('c', 1)).ok());
  RunAll();
  EXPECT_LE(log_.find('c'), 3u) << log_;
  EXPECT_EQ(log_.size(), 201u);
}

TEST_F(PieceRunnerTest, TakesNoMoreThreadsThanItMay) {
  for (int i = 0; i < 16; ++i) ASSERT_TRUE(runner_->Begin(Work('a', 3)).ok());
  while (!executor_->tasks.empty()) {
    EXPECT_LE(executor_->tasks.size(), 2u);
    executor_->RunOne();
  }
  EXPECT_EQ(log_.size(), 48u);
  ASSERT_TRUE(runner_->Begin(Work('b', 1)).ok()) << "and begins again";
  RunAll();
  EXPECT_EQ(log_.back(), 'b');
}

TEST_F(PieceRunnerTest, WorkWithoutAThreadIsRefusedAndNeverRun) {
  executor_->is_full = true;
  EXPECT_TRUE(absl::IsResourceExhausted(runner_->Begin(Work('a', 1))));
  executor_->is_full = false;
  ASSERT_TRUE(runner_->Begin(Work('b', 1)).ok());
  RunAll();
  EXPECT_EQ(log_, "b");
}

TEST_F(PieceRunnerTest, WorkBesideAThreadThatRunsIsTakenByIt) {
  ASSERT_TRUE(runner_->Begin(Work('a', 2)).ok());
  executor_->is_full = true;
  EXPECT_TRUE(runner_->Begin(Work('b', 1)).ok());
  RunAll();
  EXPECT_EQ(log_, "aba");
}

TEST_F(PieceRunnerTest, WorkThatBeganIsNotRefusedLater) {
  executor_->is_full = true;
  runner_->Continue(Work('a', 2));
  RunAll();
  EXPECT_EQ(log_, "aa");
}

TEST_F(PieceRunnerTest, WhatWorkHoldsGoesWhenItIsDone) {
  const auto held = std::make_shared<int>(0);
  ASSERT_TRUE(runner_->Begin([held] { return false; }).ok());
  EXPECT_EQ(held.use_count(), 2);
  executor_->RunOne();
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_TRUE(executor_->tasks.empty());
}

TEST_F(PieceRunnerTest, WorkIsFinishedWhetherOrNotAnybodyHoldsTheRunner) {
  ASSERT_TRUE(runner_->Begin(Work('a', 3)).ok());
  runner_.reset();
  RunAll();
  EXPECT_EQ(log_, "aaa");
}

}  // namespace
}  // namespace superfluid
