#include "engine/abi/call_port.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

#include "engine/cancel_token.h"

namespace superfluid {
namespace {

class CallPortTest : public ::testing::Test {
 protected:
  CancelToken token_;
  int signs_of_life_ = 0;
  const CallControl control_{token_, [this] { ++signs_of_life_; }};
  std::unique_ptr<RegisteredCallPort> registered_ = std::make_unique<RegisteredCallPort>();
  const sfl_call call_ = registered_->AbiCall();
};

TEST_F(CallPortTest, AnswersDuringACallOnly) {
  EXPECT_NE(call_.cancelled(call_.user), 0U);
  call_.progress(call_.user);
  EXPECT_EQ(signs_of_life_, 0);
  {
    const OpenCall open(*registered_, control_);
    EXPECT_EQ(open.abi()->user, call_.user);
    EXPECT_EQ(call_.cancelled(call_.user), 0U);
    call_.progress(call_.user);
  }
  EXPECT_EQ(signs_of_life_, 1);
  EXPECT_NE(call_.cancelled(call_.user), 0U);
  call_.progress(call_.user);
  registered_.reset();
  EXPECT_NE(call_.cancelled(call_.user), 0U);
  call_.progress(call_.user);
  EXPECT_EQ(signs_of_life_, 1);
}

TEST_F(CallPortTest, TheReasonOfACancelArrives) {
  const OpenCall open(*registered_, control_);
  token_.Cancel(CancelReason::kDraining, 1);
  EXPECT_EQ(call_.cancelled(call_.user), static_cast<uint32_t>(CancelReason::kDraining));
}

TEST_F(CallPortTest, ForeignThreadsMayAskForTheCancelOnly) {
  const OpenCall open(*registered_, control_);
  std::thread([this] {
    EXPECT_EQ(call_.cancelled(call_.user), 0U);
    call_.progress(call_.user);
  }).join();
  EXPECT_EQ(signs_of_life_, 0);
}

TEST_F(CallPortTest, NoPointerIsBelieved) {
  const OpenCall open(*registered_, control_);
  EXPECT_NE(call_.cancelled(nullptr), 0U);
  call_.progress(nullptr);
  EXPECT_EQ(signs_of_life_, 0);
}

}  // namespace
}  // namespace superfluid
