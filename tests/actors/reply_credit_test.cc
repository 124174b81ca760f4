#include "actors/dispatch/reply_credit.h"

#include <memory>

#include "gtest/gtest.h"

namespace superfluid {
namespace {

TEST(ReplyCreditTest, CreditIsWithheldWhileTooManyAnswersWait) {
  ReplyCredit credit(2);
  const auto frame = std::make_shared<int>(0);
  for (int i = 0; i < 2; ++i) credit.NoteHandedOver();
  credit.OnFrame(frame);
  EXPECT_EQ(frame.use_count(), 1);
  credit.NoteHandedOver();
  EXPECT_TRUE(credit.IsBlocked());
  credit.OnFrame(frame);
  EXPECT_EQ(frame.use_count(), 2);
  credit.NoteWritten();
  EXPECT_EQ(frame.use_count(), 1) << "the peer reads again";
  EXPECT_EQ(credit.unsent(), 2);
}

TEST(ReplyCreditTest, AnswersThatWereWrittenMakeNoRoomForLaterOnes) {
  ReplyCredit credit(1);
  for (int i = 0; i < 100; ++i) {
    credit.NoteHandedOver();
    credit.NoteWritten();
  }
  EXPECT_EQ(credit.unsent(), 0);
  credit.NoteHandedOver();
  credit.NoteHandedOver();
  EXPECT_TRUE(credit.IsBlocked());
}

}  // namespace
}  // namespace superfluid
