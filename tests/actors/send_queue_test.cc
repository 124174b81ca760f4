#include "actors/link/send_queue.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace superfluid {
namespace {

class SendQueueTest : public testing::Test {
 protected:
  SendQueueTest() {
    queue_.Push("abc");
    queue_.Push("defgh");
    queue_.Push("i");
  }
  std::string Remaining() {
    std::string all;
    for (const std::string_view piece : queue_.Pieces(100)) all += piece;
    return all;
  }
  SendQueue queue_;
};

TEST_F(SendQueueTest, PiecesAreTheFramesInOrder) {
  const absl::Span<const std::string_view> pieces = queue_.Pieces(2);
  EXPECT_EQ(std::vector<std::string_view>(pieces.begin(), pieces.end()),
            (std::vector<std::string_view>{"abc", "defgh"}));
  EXPECT_EQ(queue_.queued_bytes(), 9u);
}

TEST_F(SendQueueTest, AFrameIsDoneWithItsLastByte) {
  EXPECT_EQ(queue_.Consume(2), 0u);
  EXPECT_EQ(Remaining(), "cdefghi");
  EXPECT_EQ(queue_.Consume(1), 1u);
  EXPECT_EQ(queue_.Consume(6), 2u);
  EXPECT_TRUE(queue_.empty());
  EXPECT_EQ(queue_.queued_bytes(), 0u);
}

TEST_F(SendQueueTest, APartOfTheNextFrameMayGoWithTheEndOfThisOne) {
  EXPECT_EQ(queue_.Consume(5), 1u);
  EXPECT_EQ(Remaining(), "fghi");
  EXPECT_EQ(queue_.queued_bytes(), 4u);
}

TEST_F(SendQueueTest, EverySplitGivesTheSameBytes) {
  for (size_t step = 1; step <= 9; ++step) {
    SendQueue queue;
    queue.Push("abc");
    queue.Push("defgh");
    queue.Push("i");
    std::string seen;
    size_t done = 0;
    while (!queue.empty()) {
      std::string next;
      for (const std::string_view piece : queue.Pieces(2)) next += piece;
      next.resize(std::min(next.size(), step));
      seen += next;
      done += queue.Consume(next.size());
    }
    EXPECT_EQ(seen, "abcdefghi") << step;
    EXPECT_EQ(done, 3u) << step;
  }
}

}  // namespace
}  // namespace superfluid
