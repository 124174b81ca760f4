#include "actors/messages/request_token.h"

#include <atomic>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace superfluid {
namespace {

class RequestTokenTest : public testing::Test {
 protected:
  std::shared_ptr<EngineProgress> progress_ = std::make_shared<EngineProgress>();
};

TEST_F(RequestTokenTest, OneThatHasBegunIsTheEngines) {
  RequestToken token(progress_);
  EXPECT_EQ(progress_->waiting(), 1u);
  EXPECT_TRUE(token.Begin());
  EXPECT_EQ(progress_->waiting(), 0u);
  EXPECT_FALSE(token.EndWaiting());
  EXPECT_TRUE(token.Begin()) << "it still may go on";
}

TEST_F(RequestTokenTest, OneThatFoundNoRoomWaitsAgain) {
  RequestToken token(progress_);
  EXPECT_TRUE(token.Begin());
  token.Unbegin();
  EXPECT_EQ(progress_->waiting(), 1u);
  EXPECT_TRUE(token.Begin());
  token.Unbegin();
  EXPECT_TRUE(token.EndWaiting()) << "its owner may answer it";
  EXPECT_EQ(progress_->waiting(), 0u);
  token.Unbegin();
  EXPECT_EQ(progress_->waiting(), 0u) << "it has been ended";
  EXPECT_FALSE(token.Begin());
}

TEST_F(RequestTokenTest, OneThatWasEndedNeverBegins) {
  RequestToken token(progress_);
  EXPECT_TRUE(token.EndWaiting());
  EXPECT_EQ(progress_->waiting(), 0u);
  EXPECT_FALSE(token.Begin());
  EXPECT_FALSE(token.EndWaiting()) << "it is answered once";
}

TEST_F(RequestTokenTest, OneThatIsDroppedDoesNotWaitAnyMore) {
  { RequestToken token(progress_); }
  EXPECT_EQ(progress_->waiting(), 0u);
  RequestToken begun(progress_);
  begun.Begin();
  EXPECT_EQ(progress_->waiting(), 0u);
}

TEST_F(RequestTokenTest, ExactlyOneSideDecides) {
  for (int i = 0; i < 2000; ++i) {
    RequestToken token(progress_);
    std::atomic<bool> begun{false};
    std::thread engine([&] { begun = token.Begin(); });
    const bool ended = token.EndWaiting();
    engine.join();
    ASSERT_NE(begun.load(), ended);
  }
  EXPECT_EQ(progress_->waiting(), 0u);
}

TEST_F(RequestTokenTest, OpenTranscriptionsAreThoseThatExist) {
  auto first = std::make_shared<OpenTranscriptionCount>(progress_);
  const OpenTranscriptionCount second(progress_);
  EXPECT_EQ(progress_->open_transcriptions(), 2u);
  first.reset();
  EXPECT_EQ(progress_->open_transcriptions(), 1u);
}

TEST_F(RequestTokenTest, AStepThatGetsOnCountsAsSeveral) {
  constexpr int64_t kMs = 1'000'000;
  progress_->BeginStep(100 * kMs);
  for (int64_t ms = 101; ms <= 200; ++ms) progress_->ContinueStep(ms * kMs);
  EXPECT_EQ(progress_->steps(), 11u);
  EXPECT_EQ(progress_->busy_ns(), 100 * kMs);
  progress_->EndStep(203 * kMs);
  EXPECT_EQ(progress_->busy_ns(), 103 * kMs);
}

}  // namespace
}  // namespace superfluid
