#include "tools/superfluidd/fleet/dispatch_queue.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tools/superfluidd/fleet/restart_policy.h"
#include "tools/superfluidd/fleet/worker_table.h"

namespace superfluid::daemon {
namespace {

bool Any(const std::string&) { return true; }

class DispatchQueueTest : public testing::Test {
 protected:
  bool Add(uint64_t number, const std::string& tenant, double cost, int priority = 0,
           int64_t deadline_ns = 0) {
    return queue_.Add({.number = RequestNumber{number},
                       .tenant = tenant,
                       .model = "m",
                       .cost = cost,
                       .priority = priority,
                       .deadline_ns = deadline_ns});
  }
  uint64_t Take() {
    const auto taken = queue_.TakeNext(Any);
    return taken.has_value() ? static_cast<uint64_t>(taken->number) : 0;
  }

  DispatchQueue queue_{{.waiting = 100, .waiting_of_tenant = 100}};
};

TEST_F(DispatchQueueTest, IsBoundedAsAWholeAndForEachTenant) {
  queue_.SetLimits({.waiting = 3, .waiting_of_tenant = 2});
  EXPECT_TRUE(Add(1, "a", 1));
  EXPECT_TRUE(Add(2, "a", 1));
  EXPECT_FALSE(Add(3, "a", 1));
  EXPECT_TRUE(Add(4, "b", 1));
  EXPECT_TRUE(queue_.full());
  EXPECT_FALSE(Add(5, "c", 1));
}

TEST_F(DispatchQueueTest, LeastAudioGoesFirstThenTheOldest) {
  Add(1, "a", 5);
  Add(2, "a", 1);
  Add(3, "a", 5);
  EXPECT_EQ(Take(), 2u);
  EXPECT_EQ(Take(), 1u);
  EXPECT_EQ(Take(), 3u);
  EXPECT_EQ(Take(), 0u);
}

TEST_F(DispatchQueueTest, PriorityGoesBeforeFairnessAndDeadlineBeforeLength) {
  Add(1, "a", 1);
  Add(2, "a", 50, 1);
  Add(3, "a", 9, 0, 1000);
  EXPECT_EQ(Take(), 2u);
  EXPECT_EQ(Take(), 3u);
  EXPECT_EQ(Take(), 1u);
}

TEST_F(DispatchQueueTest, TenantsTakeTurnsByWhatTheyWereGiven) {
  for (uint64_t i = 1; i <= 10; ++i) Add(i, "many", 10);
  Add(100, "few", 10);
  Add(101, "few", 10);
  std::vector<uint64_t> order;
  for (int i = 0; i < 4; ++i) order.push_back(Take());
  EXPECT_EQ(order, (std::vector<uint64_t>{1, 100, 2, 101}));
}

TEST_F(DispatchQueueTest, WhoWasAwayHasNoCreditForIt) {
  for (uint64_t i = 1; i <= 20; ++i) Add(i, "busy", 10);
  for (int i = 0; i < 10; ++i) Take();
  for (uint64_t i = 100; i < 110; ++i) Add(i, "new", 10);
  size_t of_new = 0;
  for (int i = 0; i < 6; ++i) of_new += Take() >= 100 ? 1 : 0;
  EXPECT_LE(of_new, 4u) << "the newcomer must not run alone until it has caught up";
  EXPECT_GE(of_new, 3u);
}

TEST_F(DispatchQueueTest, ShortRequestsDoNotStarveALongOne) {
  Add(1, "a", 1000);
  uint64_t next = 2;
  size_t taken_before = 0;
  while (true) {
    Add(next++, "a", 1);
    if (Take() == 1) break;
    ASSERT_LE(++taken_before, DispatchQueue::kMaxOvertaken + 1);
  }
  EXPECT_EQ(taken_before, DispatchQueue::kMaxOvertaken);
}

TEST_F(DispatchQueueTest, WhatComesBackGoesFirst) {
  Add(1, "a", 5);
  Add(2, "a", 5, 9);
  auto taken = queue_.TakeNext(Any);
  ASSERT_TRUE(taken.has_value());
  Add(3, "b", 1, 10);
  queue_.AddAgain(*taken);
  EXPECT_EQ(Take(), 2u);
}

TEST_F(DispatchQueueTest, RemovesAndExpires) {
  Add(1, "a", 1, 0, 100);
  Add(2, "a", 1, 0, 200);
  Add(3, "a", 1);
  EXPECT_TRUE(queue_.Remove(RequestNumber{3}));
  EXPECT_FALSE(queue_.Remove(RequestNumber{3}));
  EXPECT_EQ(queue_.TakeExpired(150), (std::vector<RequestNumber>{RequestNumber{1}}));
  EXPECT_EQ(queue_.size(), 1u);
}

TEST_F(DispatchQueueTest, PassesOverModelsThatNobodyServes) {
  Add(1, "a", 1);
  EXPECT_FALSE(queue_.TakeNext([](const std::string& m) { return m == "other"; }).has_value());
  EXPECT_EQ(queue_.size(), 1u);
}

TEST(RestartPolicyTest, PausesGrowUntilAGoodLife) {
  RestartPolicy policy;
  EXPECT_EQ(policy.NextPause(absl::Seconds(5)), absl::ZeroDuration());
  EXPECT_EQ(policy.NextPause(absl::Seconds(5)), RestartPolicy::kFirstPause);
  EXPECT_EQ(policy.NextPause(absl::Seconds(5)), RestartPolicy::kFirstPause * 2);
  for (int i = 0; i < 20; ++i) policy.NextPause(absl::ZeroDuration());
  EXPECT_EQ(policy.NextPause(absl::ZeroDuration()), RestartPolicy::kLongestPause);
  EXPECT_EQ(policy.NextPause(RestartPolicy::kGoodLife), absl::ZeroDuration());
}

TEST(RestartPolicyTest, OneThatNeverWasReadyIsNotStartedAtOnce) {
  RestartPolicy policy;
  EXPECT_EQ(policy.NextPause(absl::ZeroDuration()), RestartPolicy::kFirstPause);
}

TEST(RestartPolicyTest, OnlyWhatTheClientHasNotHeardOfIsRetriedAndNotForEver) {
  EXPECT_TRUE(MayRetry(linkw::Status::kLinkClosed, false, 1));
  EXPECT_FALSE(MayRetry(linkw::Status::kLinkClosed, true, 1));
  EXPECT_FALSE(MayRetry(linkw::Status::kLinkClosed, false, 3));
  EXPECT_FALSE(MayRetry(linkw::Status::kInvalidArgument, false, 1));
  EXPECT_FALSE(MayRetry(linkw::Status::kOk, false, 1));
  EXPECT_FALSE(MayRetry(linkw::Status::kCancelled, false, 1));
}

TEST(WorkerTableTest, ChoosesTheLeastLoadedHealthyWorkerOfTheModel) {
  WorkerTable<int, std::string> table;
  table.Add(1, {.name = "a", .model = "m", .places = 4, .active = 2, .healthy = true, .link = ""});
  table.Add(2, {.name = "b", .model = "m", .places = 2, .active = 0, .healthy = true, .link = ""});
  table.Add(3, {.name = "c", .model = "m", .places = 9, .active = 0, .healthy = false, .link = ""});
  table.Add(4, {.name = "d", .model = "n", .places = 9, .active = 0, .healthy = true, .link = ""});
  EXPECT_EQ(table.Choose("m"), 2);
  table.Find(2)->active = 2;
  EXPECT_EQ(table.Choose("m"), 1);
  table.Find(1)->active = 4;
  EXPECT_EQ(table.Choose("m"), std::nullopt);
  EXPECT_FALSE(table.CanServe("other"));
  EXPECT_EQ(table.places(), 15u);
}

}  // namespace
}  // namespace superfluid::daemon
