#include "actors/dispatch/reply_credit.h"

#include <memory>

#include "gtest/gtest.h"

namespace superfluid {
namespace {

TEST(ReplyCreditTest, CreditIsWithheldWhileTooManyAnswersWait) {
  const auto replies = std::make_shared<UnsentReplies>(2);
  ReplyCredit credit(replies);
  const auto frame = std::make_shared<int>(0);
  for (int i = 0; i < 2; ++i) replies->NoteHandedOver();
  credit.OnFrame(frame);
  EXPECT_EQ(frame.use_count(), 1);
  replies->NoteHandedOver();
  EXPECT_TRUE(replies->IsAboveLimit());
  credit.OnFrame(frame);
  EXPECT_EQ(frame.use_count(), 2);
  EXPECT_TRUE(replies->NoteWritten()) << "the dispatcher has to be told";
  credit.OnWritten();
  EXPECT_EQ(frame.use_count(), 1) << "the peer reads again";
  EXPECT_EQ(replies->unsent(), 2);
}

TEST(ReplyCreditTest, NobodyIsToldOfAnswersThatNobodyWaitsFor) {
  UnsentReplies replies(1);
  for (int i = 0; i < 100; ++i) {
    replies.NoteHandedOver();
    EXPECT_FALSE(replies.NoteWritten());
  }
  EXPECT_EQ(replies.unsent(), 0);
  replies.NoteHandedOver();
  replies.NoteHandedOver();
  EXPECT_TRUE(replies.IsAboveLimit());
}

TEST(ReplyCreditTest, TheOneThatReachesTheLimitTellsOnce) {
  const auto replies = std::make_shared<UnsentReplies>(1);
  ReplyCredit credit(replies);
  for (int i = 0; i < 4; ++i) replies->NoteHandedOver();
  credit.OnFrame(std::make_shared<int>(0));
  EXPECT_FALSE(replies->NoteWritten()) << "three wait, one may";
  EXPECT_FALSE(replies->NoteWritten());
  EXPECT_TRUE(replies->NoteWritten());
  EXPECT_FALSE(replies->NoteWritten());
}

TEST(ReplyCreditTest, WhoWasToldTooEarlyWaitsAgain) {
  const auto replies = std::make_shared<UnsentReplies>(0);
  ReplyCredit credit(replies);
  replies->NoteHandedOver();
  credit.OnFrame(std::make_shared<int>(0));
  EXPECT_TRUE(replies->NoteWritten());
  replies->NoteHandedOver();  // before the dispatcher heard of it
  credit.OnWritten();
  EXPECT_EQ(credit.withheld(), 1u);
  EXPECT_TRUE(replies->NoteWritten());
  credit.OnWritten();
  EXPECT_EQ(credit.withheld(), 0u);
}

}  // namespace
}  // namespace superfluid
