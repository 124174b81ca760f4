#include "actors/supervision/alarm_table.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "gtest/gtest.h"

namespace superfluid {
namespace {

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kHour = int64_t{3600} * 1000 * kMs;

class AlarmTableTest : public testing::Test {
 protected:
  void Set(uint64_t owner, uint32_t slot, int64_t at_ns, int number) {
    table_.Set({owner, slot}, at_ns, [this, number] { rung_.push_back(number); });
  }
  std::vector<int> RingDue(int64_t now_ns) {
    rung_.clear();
    for (const AlarmTable::Ring& ring : table_.TakeDue(now_ns)) ring();
    return rung_;
  }

  AlarmTable table_;
  std::vector<int> rung_;
};

TEST_F(AlarmTableTest, RingsWhatIsDueOnceAndTheEarliestFirst) {
  Set(1, 0, 30 * kMs, 3);
  Set(2, 0, 10 * kMs, 1);
  Set(3, 0, 20 * kMs, 2);
  EXPECT_EQ(RingDue(10 * kMs - 1), std::vector<int>{});
  EXPECT_EQ(RingDue(20 * kMs), (std::vector<int>{1, 2}));
  EXPECT_EQ(RingDue(kHour), std::vector<int>{3});
  EXPECT_EQ(RingDue(kHour), std::vector<int>{});
}

TEST_F(AlarmTableTest, ANewAlarmReplacesTheOneInItsSlot) {
  Set(1, 0, 10 * kMs, 1);
  Set(1, 0, 20 * kMs, 2);
  Set(1, 1, 15 * kMs, 3);
  EXPECT_EQ(table_.size(), 2U);
  EXPECT_EQ(RingDue(kHour), (std::vector<int>{3, 2}));
}

TEST_F(AlarmTableTest, ACancelledAlarmDoesNotRing) {
  Set(1, 0, 10 * kMs, 1);
  Set(1, 1, 10 * kMs, 2);
  table_.Cancel({1, 0});
  table_.Cancel({7, 0});
  EXPECT_EQ(RingDue(kHour), std::vector<int>{2});
}

TEST_F(AlarmTableTest, AnOwnersEndTakesItsAlarmsAndNoOthers) {
  for (uint32_t slot = 0; slot < 4; ++slot) Set(2, slot, kHour, 2);
  Set(1, 3, kHour, 1);
  Set(3, 0, kHour, 3);
  table_.CancelAllOf(2);
  EXPECT_EQ(RingDue(kHour), (std::vector<int>{1, 3}));
  EXPECT_EQ(table_.size(), 0U);
}

TEST_F(AlarmTableTest, AWakeIsNeverEarlyAndAtMostAMillisecondLate) {
  Set(1, 0, 10 * kMs + 1, 1);
  EXPECT_EQ(table_.NextWake(5 * kMs), 11 * kMs);
}

TEST_F(AlarmTableTest, NoWakeIsAskedForTwice) {
  EXPECT_EQ(table_.NextWake(0), std::nullopt);
  Set(1, 0, 10 * kMs, 1);
  EXPECT_EQ(table_.NextWake(0), 10 * kMs);
  EXPECT_EQ(table_.NextWake(0), std::nullopt);
  Set(2, 0, 20 * kMs, 2);
  EXPECT_EQ(table_.NextWake(0), std::nullopt) << "an earlier wake comes";
  Set(3, 0, 5 * kMs, 3);
  EXPECT_EQ(table_.NextWake(0), 5 * kMs);
  EXPECT_EQ(RingDue(5 * kMs), std::vector<int>{3});
  EXPECT_EQ(table_.NextWake(5 * kMs), std::nullopt) << "the wake at 10 ms still comes";
  EXPECT_EQ(RingDue(10 * kMs), std::vector<int>{1});
  EXPECT_EQ(table_.NextWake(10 * kMs), 20 * kMs);
}

TEST_F(AlarmTableTest, AFarAlarmIsReachedInStepsOfASecond) {
  Set(1, 0, std::numeric_limits<int64_t>::max(), 1);
  EXPECT_EQ(table_.NextWake(3 * kMs), 1003 * kMs);
  EXPECT_EQ(table_.NextWake(4 * kMs), std::nullopt);
  EXPECT_EQ(table_.NextWake(1003 * kMs), 2003 * kMs);
}

TEST_F(AlarmTableTest, AFarAlarmBesideManyNearOnesLeavesNoWakesBehind) {
  Set(1, 0, kHour, 0);
  int64_t now_ns = 0;
  for (int i = 0; i < 100'000; ++i) {
    now_ns += kMs / 4;
    static_cast<void>(table_.NextWake(now_ns));
    Set(2, 0, now_ns + 50 * kMs, 1);
    static_cast<void>(table_.NextWake(now_ns));
    RingDue(now_ns);
    ASSERT_LE(table_.pending_wakes(), 1001U);
  }
  EXPECT_EQ(table_.size(), 2U);
}

TEST_F(AlarmTableTest, EverEarlierAlarmsAskForOneWakeAMillisecondAtMost) {
  for (int64_t at = 2000 * kMs; at > 0; at -= kMs / 10) {
    Set(1, 0, at, 1);
    static_cast<void>(table_.NextWake(0));
  }
  EXPECT_LE(table_.pending_wakes(), 1001U);
}

}  // namespace
}  // namespace superfluid
