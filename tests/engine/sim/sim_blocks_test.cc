#include "engine/sim/sim_blocks.h"

#include <gtest/gtest.h>

namespace superfluid {
namespace {

TEST(SimBlocksTest, CountsWhatLives) {
  SimBlockPool pool(2);
  SimBlockRef first = pool.Take();
  const SimBlockRef shared = first;
  EXPECT_EQ(pool.live(), 1U);
  first.reset();
  EXPECT_EQ(pool.live(), 1U);
  const SimBlockRef second = pool.Take();
  EXPECT_EQ(pool.live(), 2U);
  EXPECT_EQ(pool.Take(), nullptr);
}

TEST(SimBlocksTest, ReclaimsWhenFull) {
  SimBlockPool pool(1);
  SimBlockRef held = pool.Take();
  int asked = 0;
  pool.set_reclaim([&] {
    ++asked;
    held.reset();
    return true;
  });
  EXPECT_NE(pool.Take(), nullptr);
  EXPECT_EQ(asked, 1);
}

TEST(SimBlocksTest, TentativeBlocksAreAllOrNone) {
  SimBlockPool pool(3);
  EXPECT_EQ(pool.TakeTentative(4), nullptr);
  EXPECT_EQ(pool.live(), 0U);
  auto blocks = pool.TakeTentative(2);
  ASSERT_NE(blocks, nullptr);
  EXPECT_EQ(pool.tentative(), 2U);
  EXPECT_EQ(pool.TakeTentative(2), nullptr);
  EXPECT_EQ(pool.live(), 2U);
  const auto taken = blocks->Take();
  EXPECT_EQ(taken.size(), 2U);
  EXPECT_EQ(pool.tentative(), 0U);
  EXPECT_EQ(pool.live(), 2U);
}

TEST(SimBlocksTest, TentativeBlocksGoBackUnlessTaken) {
  SimBlockPool pool(3);
  pool.TakeTentative(3).reset();
  EXPECT_EQ(pool.tentative(), 0U);
  EXPECT_EQ(pool.live(), 0U);
}

}  // namespace
}  // namespace superfluid
