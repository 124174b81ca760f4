#include "engine/abi/tick_port.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "engine/cancel_token.h"
#include "tests/engine/abi/generation_fixture.h"

namespace superfluid {
namespace {

class TickPortTest : public ::testing::Test {
 protected:
  void SetUp() override { registered_->Attach(tick_); }
  void Open(bool emits = true) { registered_->port().Open(token_, host_, {{5, 3}, {7, 2}}, emits); }
  sfl_status Emit(size_t lane, const std::vector<Token>& tokens) {
    return tick_.emit(tick_.user, lane, tokens.data(), tokens.size(), nullptr);
  }

  CancelToken token_;
  testing::RecordingHost host_;
  std::unique_ptr<RegisteredTickPort> registered_ = std::make_unique<RegisteredTickPort>(100);
  sfl_tick tick_ = {};
};

TEST_F(TickPortTest, AnswersDuringATickOnly) {
  EXPECT_EQ(Emit(0, {1}), SFL_FAILED_PRECONDITION);
  EXPECT_EQ(tick_.lane_stopped(tick_.user, 0), 1U);
  EXPECT_NE(tick_.cancelled(tick_.user), 0U);
  Open();
  EXPECT_EQ(Emit(0, {1}), SFL_OK);
  EXPECT_EQ(tick_.lane_stopped(tick_.user, 0), 0U);
  EXPECT_EQ(tick_.cancelled(tick_.user), 0U);
  registered_->port().Close();
  EXPECT_EQ(Emit(0, {1}), SFL_FAILED_PRECONDITION);
  EXPECT_EQ(tick_.lane_stopped(tick_.user, 0), 1U);
  EXPECT_NE(tick_.cancelled(tick_.user), 0U);
  registered_.reset();
  EXPECT_EQ(Emit(0, {1}), SFL_FAILED_PRECONDITION);
  EXPECT_EQ(tick_.lane_stopped(tick_.user, 0), 1U);
  EXPECT_NE(tick_.cancelled(tick_.user), 0U);
}

TEST_F(TickPortTest, KnowsTheLanesByTheirPlaceInTheWholeTick) {
  host_.stopped_lane = 7;
  Open();
  EXPECT_EQ(tick_.lane_stopped(tick_.user, 0), 0U);
  EXPECT_EQ(tick_.lane_stopped(tick_.user, 1), 1U);
  EXPECT_TRUE(registered_->port().told_to_stop(1));
  EXPECT_FALSE(registered_->port().told_to_stop(0));
  EXPECT_EQ(Emit(1, {4}), SFL_OK);
  EXPECT_EQ(host_.emits.at(0).first, 7U);
}

TEST_F(TickPortTest, RemembersWhatALaneEmitted) {
  Open();
  EXPECT_EQ(Emit(0, {1, 2}), SFL_OK);
  EXPECT_EQ(Emit(0, {}), SFL_OK);
  EXPECT_EQ(Emit(0, {3, 4}), SFL_INVALID_ARGUMENT);
  EXPECT_EQ(Emit(0, {3}), SFL_OK);
  EXPECT_EQ(registered_->port().emitted(0), (std::vector<Token>{1, 2, 3}));
  EXPECT_EQ(host_.emits.size(), 2U);
  registered_->port().Close();
  Open();
  EXPECT_TRUE(registered_->port().emitted(0).empty());
}

TEST_F(TickPortTest, TheReasonOfACancelArrives) {
  Open();
  token_.Cancel(CancelReason::kTooLong, 1);
  EXPECT_EQ(tick_.cancelled(tick_.user), static_cast<uint32_t>(CancelReason::kTooLong));
}

TEST_F(TickPortTest, ForeignThreadsMayAskForTheCancelOnly) {
  Open();
  std::thread([this] {
    EXPECT_EQ(Emit(0, {1}), SFL_FAILED_PRECONDITION);
    EXPECT_EQ(tick_.lane_stopped(tick_.user, 0), 1U);
    EXPECT_EQ(tick_.cancelled(tick_.user), 0U);
  }).join();
  EXPECT_TRUE(host_.emits.empty());
  EXPECT_EQ(host_.asked, 0);
}

TEST_F(TickPortTest, AStrayThreadMayAskWhileTicksComeAndGo) {
  std::atomic<bool> stop = false;
  std::thread elsewhere([&] {
    while (!stop) {
      tick_.cancelled(tick_.user);
      tick_.lane_stopped(tick_.user, 0);
    }
  });
  for (int i = 0; i < 2000; ++i) {
    auto token = std::make_unique<CancelToken>();
    registered_->port().Open(*token, host_, {{0, 1}}, true);
    registered_->port().Close();
  }
  registered_.reset();
  stop = true;
  elsewhere.join();
}

}  // namespace
}  // namespace superfluid
