#include "protocol/client/reply_queue.h"

#include <chrono>
#include <cstdint>
#include <future>

#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "protocol/messages/status.h"

namespace superfluid::linkw {
namespace {

WorkerMessage Numbered(uint32_t number) { return Drained{number, 0}; }

uint32_t NumberOf(const absl::StatusOr<WorkerMessage>& message) {
  return std::get<Drained>(*message).finished;
}

TEST(ReplyQueueTest, GivesAnswersInOrderAndErrorsInTheirPlace) {
  ReplyQueue queue(8);
  queue.Push(Numbered(1));
  queue.Push(absl::InvalidArgumentError("broken"));
  queue.Push(Numbered(2));
  EXPECT_EQ(NumberOf(queue.Pop(absl::InfiniteFuture())), 1u);
  EXPECT_EQ(queue.Pop(absl::InfiniteFuture()).status().message(), "broken");
  EXPECT_EQ(NumberOf(queue.Pop(absl::InfiniteFuture())), 2u);
}

TEST(ReplyQueueTest, AWaitEnds) {
  ReplyQueue queue(8);
  EXPECT_EQ(FromAbsl(queue.Pop(absl::Now()).status()), Status::kDeadlineExceeded);
}

TEST(ReplyQueueTest, AFullQueueHoldsTheWriterBack) {
  ReplyQueue queue(0);  // holds one all the same
  queue.Push(Numbered(1));
  auto second = std::async(std::launch::async, [&] { queue.Push(Numbered(2)); });
  EXPECT_EQ(second.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  EXPECT_EQ(NumberOf(queue.Pop(absl::InfiniteFuture())), 1u);
  second.get();
  EXPECT_EQ(NumberOf(queue.Pop(absl::InfiniteFuture())), 2u);
}

TEST(ReplyQueueTest, AClosedQueueStillGivesWhatItHas) {
  ReplyQueue queue(1);
  queue.Push(Numbered(1));
  auto late = std::async(std::launch::async, [&] { queue.Push(Numbered(2)); });
  queue.Close(absl::UnavailableError("first reason"));
  queue.Close(absl::UnavailableError("second reason"));
  late.get();
  EXPECT_EQ(NumberOf(queue.Pop(absl::InfiniteFuture())), 1u);
  EXPECT_EQ(queue.Pop(absl::InfiniteFuture()).status().message(), "first reason");
}

TEST(ReplyQueueTest, CloseWakesWhoeverWaits) {
  ReplyQueue queue(1);
  auto answer =
      std::async(std::launch::async, [&] { return queue.Pop(absl::InfiniteFuture()).status(); });
  queue.Close(absl::UnavailableError("over"));
  EXPECT_EQ(answer.get().message(), "over");
}

TEST(ReplyQueueTest, AbandonFreesTheWriter) {
  ReplyQueue queue(1);
  queue.Push(Numbered(1));
  auto second = std::async(std::launch::async, [&] { queue.Push(Numbered(2)); });
  queue.Abandon();
  second.get();
  queue.Push(Numbered(3));
  EXPECT_EQ(FromAbsl(queue.Pop(absl::Now()).status()), Status::kDeadlineExceeded);
}

}  // namespace
}  // namespace superfluid::linkw
