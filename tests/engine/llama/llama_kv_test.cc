#include "engine/llama/llama_kv.h"

#include <gtest/gtest.h>

#include <utility>

namespace superfluid {
namespace {

class KvCellsTest : public ::testing::Test {
 protected:
  KvCells cells_{10};
};

TEST_F(KvCellsTest, CountsEachCellOnceWhoeverHasIt) {
  KvRun run(cells_);
  run.AddNew(4);
  EXPECT_EQ(cells_.used(), 4U);
  EXPECT_FALSE(run.IsShared());
  {
    KvRun copy = run;
    EXPECT_EQ(cells_.used(), 4U);
    EXPECT_TRUE(run.IsShared());
    copy.AddNew(2);
    EXPECT_EQ(cells_.used(), 6U);
    run.Resize(1);
    EXPECT_EQ(cells_.used(), 6U);
  }
  EXPECT_EQ(cells_.used(), 1U);
  KvRun moved = std::move(run);
  EXPECT_EQ(cells_.used(), 1U);
  moved.Resize(0);
  EXPECT_EQ(cells_.free(), 10U);
}

TEST_F(KvCellsTest, CellsThatWereGivenBackAreGivenOutAgain) {
  for (int i = 0; i < 20; ++i) {
    KvRun run(cells_);
    run.AddNew(10);
    EXPECT_EQ(cells_.free(), 0U);
  }
  EXPECT_EQ(cells_.total(), 10U);
}

TEST_F(KvCellsTest, DroppedCellsCanBeFilledIn) {
  KvRun run(cells_);
  run.AddNew(6);
  run.Drop(1, 4);
  EXPECT_EQ(cells_.used(), 3U);
  EXPECT_EQ(run.cells()[1], kNoCell);
  EXPECT_FALSE(run.IsShared());
  {
    KvRun in(cells_);
    in.AddNew(3);
    run.Fill(1, in.cells());
  }
  EXPECT_EQ(cells_.used(), 6U);
  run.Drop(0, 6);
  EXPECT_EQ(cells_.used(), 0U);
  run.Resize(0);
  EXPECT_EQ(cells_.used(), 0U);
}

TEST_F(KvCellsTest, MakesRoomAsLongAsSomethingCanGo) {
  KvRun cached(cells_);
  cached.AddNew(8);
  EXPECT_FALSE(cells_.MakeRoom(3));
  cells_.set_reclaim([&] {
    if (cached.size() == 0) return false;
    cached.Resize(cached.size() - 2);
    return true;
  });
  EXPECT_TRUE(cells_.MakeRoom(3));
  EXPECT_EQ(cells_.free(), 4U);
  cells_.Reserve(4);
  EXPECT_TRUE(cells_.MakeRoom(1));
  EXPECT_EQ(cached.size(), 4U);
  EXPECT_FALSE(cells_.MakeRoom(7));
  EXPECT_EQ(cached.size(), 0U);
  cells_.Unreserve(4);
  EXPECT_TRUE(cells_.MakeRoom(10));
}

}  // namespace
}  // namespace superfluid
