#include "tools/worker/log_queue.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <thread>

namespace superfluid {
namespace {

constexpr size_t kMost = 1024;

std::string Line(int number) { return "line " + std::to_string(number) + "\n"; }

TEST(LogQueueTest, LinesComeInTheirOrder) {
  LogQueue queue(kMost);
  queue.Push("one\n");
  queue.Push("two\n");
  const std::optional<LogQueue::Batch> batch = queue.Take(kMost);
  ASSERT_TRUE(batch.has_value());
  EXPECT_EQ(batch->text, "one\ntwo\n");
  EXPECT_EQ(batch->dropped, 0u);
}

TEST(LogQueueTest, ALongBatchIsCutBetweenLines) {
  LogQueue queue(kMost);
  queue.Push("a longer line\n");
  queue.Push("two\n");
  EXPECT_EQ(queue.Take(5)->text, "a longer line\n");
  EXPECT_EQ(queue.Take(5)->text, "two\n");
}

TEST(LogQueueTest, TheOldestLinesGoWhenItIsFullAndAreCounted) {
  LogQueue queue(/*max_bytes=*/14);
  for (int i = 1; i <= 5; ++i) queue.Push(Line(i));  // of seven bytes
  const std::optional<LogQueue::Batch> batch = queue.Take(kMost);
  ASSERT_TRUE(batch.has_value());
  EXPECT_EQ(batch->text, "line 4\nline 5\n");
  EXPECT_EQ(batch->dropped, 3u);
  queue.Push("next\n");
  EXPECT_EQ(queue.Take(kMost)->dropped, 0u);
}

TEST(LogQueueTest, ALineThatFitsNowhereIsCountedAndHarmsNoOther) {
  LogQueue queue(/*max_bytes=*/14);
  queue.Push(Line(1));
  queue.Push(std::string(15, 'x'));
  const std::optional<LogQueue::Batch> batch = queue.Take(kMost);
  ASSERT_TRUE(batch.has_value());
  EXPECT_EQ(batch->text, Line(1));
  EXPECT_EQ(batch->dropped, 1u);
}

TEST(LogQueueTest, ItIsIdleWhenTheLastBatchIsWritten) {
  LogQueue queue(kMost);
  EXPECT_TRUE(queue.idle());
  queue.Push(Line(1));
  EXPECT_FALSE(queue.idle());
  ASSERT_TRUE(queue.Take(kMost).has_value());
  EXPECT_FALSE(queue.idle());
  EXPECT_FALSE(queue.WaitUntilWritten(absl::ZeroDuration()));
  queue.Written();
  EXPECT_TRUE(queue.idle());
  EXPECT_TRUE(queue.WaitUntilWritten(absl::ZeroDuration()));
}

TEST(LogQueueTest, TheWaitEndsWithTheLastBatch) {
  LogQueue queue(kMost);
  queue.Push(Line(1));
  std::thread writer([&queue] {
    while (queue.Take(kMost)) queue.Written();
  });
  EXPECT_TRUE(queue.WaitUntilWritten(absl::Minutes(1)));
  queue.Close();
  writer.join();
}

TEST(LogQueueTest, AClosedQueueGivesWhatItHasAndTakesNoMore) {
  LogQueue queue(kMost);
  queue.Push(Line(1));
  queue.Close();
  queue.Push(Line(2));
  EXPECT_EQ(queue.Take(kMost)->text, Line(1));
  EXPECT_FALSE(queue.Take(kMost).has_value());
}

}  // namespace
}  // namespace superfluid
