// The guard bytes behind what a plug-in writes to.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "engine/abi/arena.h"
#include "engine/abi/guarded_value.h"

namespace superfluid {
namespace {

TEST(ArenaTest, RoomsDoNotTouch) {
  Arena<uint32_t> arena;
  arena.Cut({3, 0, 5});
  EXPECT_EQ(arena.capacity(0), 3U);
  EXPECT_EQ(arena.capacity(1), 0U);
  EXPECT_EQ(arena.capacity(2), 5U);
  for (size_t i = 0; i < 3; ++i) {
    for (size_t k = 0; k < arena.capacity(i); ++k) arena.data(i)[k] = 7;
  }
  EXPECT_TRUE(arena.intact(0) && arena.intact(1) && arena.intact(2));
}

TEST(ArenaTest, AWritePastARoomIsSeenThere) {
  Arena<uint32_t> arena;
  arena.Cut({3, 4});
  arena.data(0)[3] = 7;
  EXPECT_FALSE(arena.intact(0));
  EXPECT_TRUE(arena.intact(1));
  reinterpret_cast<char*>(arena.data(1) + 4)[63] = 1;
  EXPECT_FALSE(arena.intact(1));
}

TEST(ArenaTest, CuttingAnewMakesItWhole) {
  Arena<uint32_t> arena;
  arena.Cut({3, 4});
  arena.data(0)[3] = 7;
  arena.Cut({1, 9, 2});
  EXPECT_TRUE(arena.intact(0) && arena.intact(1) && arena.intact(2));
  EXPECT_EQ(arena.data(1)[0], 0U);
}

TEST(GuardedValueTest, HasItsInitialValueAndSize) {
  GuardedValue<uint64_t> number(5);
  EXPECT_EQ(number.value(), 5U);
  GuardedValue<sfl_lease> lease;
  EXPECT_EQ(lease.value().struct_size, sizeof(sfl_lease));
  EXPECT_EQ(lease.value().seed, 0U);
  EXPECT_TRUE(lease.intact());
}

TEST(GuardedValueTest, AWritePastItIsSeen) {
  GuardedValue<uint64_t> number;
  *number.get() = 1;
  EXPECT_TRUE(number.intact());
  std::memset(number.get(), 1, sizeof(uint64_t) + 1);
  EXPECT_FALSE(number.intact());
}

TEST(GuardedListTest, SetsTheSizeOfElementsThatHaveOne) {
  GuardedList<sfl_state_space> spaces(3);
  const sfl_list raw = spaces.abi();
  EXPECT_EQ(raw.capacity, 3U);
  EXPECT_EQ(raw.count, 0U);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(SFL_AT(sfl_state_space, &raw, i)->struct_size, sizeof(sfl_state_space));
  }
  GuardedList<float> floats(2);
  sfl_list raw_floats = floats.abi();
  *SFL_AT(float, &raw_floats, 1) = 2;
  EXPECT_EQ(floats.Take(2), (std::vector<float>{0, 2}));
}

TEST(GuardedListTest, AWritePastItIsSeen) {
  GuardedList<float> floats(2);
  sfl_list raw = floats.abi();
  *SFL_AT(float, &raw, 2) = 1;
  EXPECT_FALSE(floats.intact());
}

}  // namespace
}  // namespace superfluid
