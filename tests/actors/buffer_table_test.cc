#include "actors/state_ops/buffer_table.h"

#include <memory>

#include "gtest/gtest.h"
#include "protocol/messages/status.h"

namespace superfluid {
namespace {

TEST(BufferTableTest, AReleasedBufferStaysMappedWhileItIsUsed) {
  BufferTable table(BufferLimits{.max_buffers = 10, .max_bytes = 8192});
  ASSERT_TRUE(table.Insert(linkw::BufId(1), *Segment::Create(4096, "a")).ok());
  std::shared_ptr<const Segment> in_use = *table.Use(linkw::BufId(1));
  table.Release(linkw::BufId(1));
  table.Release(linkw::BufId(1));
  EXPECT_EQ(linkw::FromAbsl(table.Use(linkw::BufId(1)).status()), linkw::Status::kUnknownHandle);
  EXPECT_EQ(table.BytesInUse(), 4096u);
  in_use->data()[0] = std::byte{1};  // still there
  in_use.reset();
  EXPECT_EQ(table.BytesInUse(), 0u);
}

TEST(BufferTableTest, LimitsCountReleasedBuffersThatAreInUse) {
  BufferTable table(BufferLimits{.max_buffers = 10, .max_bytes = 8192});
  ASSERT_TRUE(table.Insert(linkw::BufId(1), *Segment::Create(8192, "a")).ok());
  const std::shared_ptr<const Segment> in_use = *table.Use(linkw::BufId(1));
  table.Release(linkw::BufId(1));
  EXPECT_TRUE(absl::IsResourceExhausted(table.CheckRoom(1)));
  EXPECT_TRUE(absl::IsResourceExhausted(table.Insert(linkw::BufId(2), *Segment::Create(1, "b"))));
}

TEST(BufferTableTest, CopiesAndBuffersShareOneLimit) {
  BufferTable table(BufferLimits{.max_buffers = 10, .max_bytes = 8192});
  ASSERT_TRUE(table.Insert(linkw::BufId(1), *Segment::Create(4096, "a")).ok());
  ASSERT_TRUE(table.TakeCopy(4096).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(table.TakeCopy(1)));
  EXPECT_TRUE(absl::IsResourceExhausted(table.CheckRoom(1)));
  table.DropCopy(4096);
  EXPECT_TRUE(table.CheckRoom(4096).ok());
}

TEST(BufferTableTest, TheNumberOfBuffersIsBounded) {
  BufferTable table(BufferLimits{.max_buffers = 2});
  ASSERT_TRUE(table.Insert(linkw::BufId(1), *Segment::Create(1, "a")).ok());
  ASSERT_TRUE(table.Insert(linkw::BufId(2), *Segment::Create(1, "b")).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(table.CheckRoom(0)));
}

TEST(BufferTableTest, AnIdIsUsedOnce) {
  BufferTable table(BufferLimits{});
  ASSERT_TRUE(table.Insert(linkw::BufId(1), *Segment::Create(1, "a")).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(table.Insert(linkw::BufId(1), *Segment::Create(1, "b"))));
}

TEST(BufferTableTest, AReleaseOfAnEarlierBufferLeavesTheIdsNextOne) {
  BufferTable table(BufferLimits{});
  ASSERT_TRUE(table.Insert(linkw::BufId(1), *Segment::Create(1, "a")).ok());
  const std::shared_ptr<const Segment> first = *table.Use(linkw::BufId(1));
  table.Release(linkw::BufId(1));
  ASSERT_TRUE(table.Insert(linkw::BufId(1), *Segment::Create(1, "b")).ok());
  table.Release(linkw::BufId(1), first);
  EXPECT_TRUE(table.Contains(linkw::BufId(1)));
  table.Release(linkw::BufId(1), *table.Use(linkw::BufId(1)));
  EXPECT_FALSE(table.Contains(linkw::BufId(1)));
}

}  // namespace
}  // namespace superfluid
