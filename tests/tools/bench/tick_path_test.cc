// What a tick allocates, counted on the way that every tick of a worker takes: from the payload of
// TICK_SUBMIT to the frame of TICK_RESULT. A null engine's part of it is one vector a lane and one
// for all.

#include "tools/bench/tick_path.h"

#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "tests/protocol/allocation_watch.h"

namespace superfluid::bench {
namespace {

size_t AllocationsOfATick(size_t lanes) {
  const auto path = TickPath::Make(lanes);
  EXPECT_TRUE(path.ok()) << path.status();
  for (int i = 0; i < 3; ++i) (*path)->Run();  // what is kept is there
  const AllocationWatch watch;
  const std::string frame = (*path)->Run();
  const size_t count = watch.Count();
  EXPECT_GT(frame.size(), lanes);
  return count;
}

TEST(TickPathTest, ATickOf256LanesAllocatesLittleBesideItsEngine) {
  const size_t count = AllocationsOfATick(256);
  RecordProperty("allocations", static_cast<int>(count));
  EXPECT_GE(count, 257u) << "the engine's are counted";
  EXPECT_LE(count, 257u + 12u);
}

TEST(TickPathTest, AllocationsBesideTheEnginesDoNotGrowWithTheLanes) {
  EXPECT_EQ(AllocationsOfATick(256) - 256, AllocationsOfATick(16) - 16);
}

}  // namespace
}  // namespace superfluid::bench
