#include "actors/link/send_queue.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace superfluid {
namespace {

using Tickets = std::vector<uint64_t>;

class SendQueueTest : public testing::Test {
 protected:
  SendQueueTest() {
    queue_.Push({.bytes = "abc", .ticket = 1});
    queue_.Push({.bytes = "defgh", .ticket = 2});
    queue_.Push({.bytes = "i", .ticket = 3});
  }
  std::string Remaining() const {
    std::string all;
    for (const std::string_view piece : queue_.Pieces(100)) all += piece;
    return all;
  }
  SendQueue queue_;
};

TEST_F(SendQueueTest, PiecesAreTheFramesInOrder) {
  EXPECT_EQ(queue_.Pieces(2), (std::vector<std::string_view>{"abc", "defgh"}));
  EXPECT_EQ(queue_.queued_bytes(), 9u);
}

TEST_F(SendQueueTest, AFrameIsDoneWithItsLastByte) {
  EXPECT_EQ(queue_.Consume(2), Tickets{});
  EXPECT_EQ(Remaining(), "cdefghi");
  EXPECT_EQ(queue_.Consume(1), Tickets{1});
  EXPECT_EQ(queue_.Consume(6), (Tickets{2, 3}));
  EXPECT_TRUE(queue_.empty());
  EXPECT_EQ(queue_.queued_bytes(), 0u);
}

TEST_F(SendQueueTest, APartOfTheNextFrameMayGoWithTheEndOfThisOne) {
  EXPECT_EQ(queue_.Consume(5), Tickets{1});
  EXPECT_EQ(Remaining(), "fghi");
  EXPECT_EQ(queue_.queued_bytes(), 4u);
}

TEST_F(SendQueueTest, EverySplitGivesTheSameBytes) {
  for (size_t step = 1; step <= 9; ++step) {
    SendQueue queue;
    queue.Push({.bytes = "abc", .ticket = 1});
    queue.Push({.bytes = "defgh", .ticket = 2});
    queue.Push({.bytes = "i", .ticket = 3});
    std::string seen;
    Tickets done;
    while (!queue.empty()) {
      std::string next;
      for (const std::string_view piece : queue.Pieces(2)) next += piece;
      next.resize(std::min(next.size(), step));
      seen += next;
      for (const uint64_t ticket : queue.Consume(next.size())) done.push_back(ticket);
    }
    EXPECT_EQ(seen, "abcdefghi") << step;
    EXPECT_EQ(done, (Tickets{1, 2, 3})) << step;
  }
}

}  // namespace
}  // namespace superfluid
