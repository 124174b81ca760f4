#include "protocol/driver/driver_ops.h"

#include <future>

#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "tests/protocol/client_fixture.h"

namespace superfluid::linkw {
namespace {

constexpr OpHandle kHandle{42};

class DriverOpsTest : public ClientTest {
 protected:
  void Open() {
    Connect();
    ops_.emplace(*client_, absl::Seconds(30));
  }

  StateOp Op() const { return Restore{SequenceId{1}, SpaceId{2}, BufId{3}}; }

  // `seq_` is the submit's.
  void ExpectSubmit() { EXPECT_EQ(worker_->Expect<StateOpSubmit>(&seq_).op, Op()); }
  void Accept() { worker_->Send(seq_, StateOpAccepted{Status::kOk, "", kHandle}); }

  std::unique_ptr<DriverOp> Submit() {
    auto submitted = std::async(std::launch::async, [this] { return ops_->Submit(Op()); });
    ExpectSubmit();
    Accept();
    auto op = submitted.get();
    EXPECT_TRUE(op.ok()) << op.status();
    return *std::move(op);
  }

  void SendDone(OpState state, Status error = Status::kOk, const std::string& message = "") {
    worker_->Send(seq_, StateOpDone{kHandle, state, error, message, 1000});
  }

  std::future<absl::StatusOr<uint64_t>> StartRun(absl::Time deadline = absl::InfiniteFuture()) {
    return std::async(std::launch::async, [this, deadline] { return ops_->Run(Op(), deadline); });
  }

  std::optional<DriverOps> ops_;
};

TEST_F(DriverOpsTest, WaitsForTheEndOfAnOp) {
  Open();
  const auto op = Submit();
  EXPECT_EQ(op->handle(), kHandle);
  EXPECT_TRUE(absl::IsDeadlineExceeded(op->Wait(absl::Now()).status()));
  SendDone(OpState::kDone);
  const auto done = op->Wait(absl::InfiniteFuture());
  ASSERT_TRUE(done.ok()) << done.status();
  EXPECT_EQ(done->bytes_moved, 1000u);
  EXPECT_EQ(*op->Wait(absl::InfiniteFuture()), *done) << "it stays what it was";
}

TEST_F(DriverOpsTest, RunGivesTheBytesMoved) {
  Open();
  auto run = StartRun();
  ExpectSubmit();
  Accept();
  SendDone(OpState::kDone);
  EXPECT_EQ(*run.get(), 1000u);
  ExpectPingWorks();  // and no cancel
}

TEST_F(DriverOpsTest, GivesTheReasonOfARefusal) {
  Open();
  auto run = StartRun();
  ExpectSubmit();
  worker_->Send(seq_, StateOpAccepted{Status::kBusy, "16 are open", {}});
  ExpectError(run.get().status(), Status::kBusy, "16 are open");
  run = StartRun();
  ExpectSubmit();
  worker_->Send(seq_, Error{Status::kDraining, "drains", "", false});
  ExpectError(run.get().status(), Status::kDraining, "drains");
  ExpectPingWorks();
}

TEST_F(DriverOpsTest, GivesTheReasonOfAFailure) {
  Open();
  auto run = StartRun();
  ExpectSubmit();
  Accept();
  SendDone(OpState::kFailed, Status::kEnvelopeMismatch, "another model");
  ExpectError(run.get().status(), Status::kEnvelopeMismatch, "another model");
  run = StartRun();
  ExpectSubmit();
  Accept();
  SendDone(OpState::kFailed);  // no reason
  ExpectError(run.get().status(), Status::kInternal, "did not succeed");
}

TEST_F(DriverOpsTest, CancelsAndStillGetsTheEnd) {
  Open();
  const auto op = Submit();
  EXPECT_TRUE(op->Cancel().ok());
  EXPECT_EQ(worker_->Expect<OpCancel>().op_handle, kHandle);
  SendDone(OpState::kCancelled);
  const auto done = op->Wait(absl::InfiniteFuture());
  ASSERT_TRUE(done.ok()) << done.status();
  ExpectError(StatusOf(*done), Status::kCancelled, "");
  EXPECT_TRUE(op->Cancel().ok());
  ExpectPingWorks();  // nothing was sent for that
}

TEST_F(DriverOpsTest, AnOpThatNobodyWaitsForIsCancelled) {
  Open();
  Submit().reset();
  EXPECT_EQ(worker_->Expect<OpCancel>().op_handle, kHandle);
  auto run = StartRun(absl::Now());
  ExpectSubmit();
  Accept();
  EXPECT_TRUE(absl::IsDeadlineExceeded(run.get().status()));
  EXPECT_EQ(worker_->Expect<OpCancel>().op_handle, kHandle);
}

TEST_F(DriverOpsTest, TheEndOfAnotherOpIsNotTaken) {
  Open();
  const auto op = Submit();
  worker_->Send(seq_, StateOpDone{OpHandle{7}, OpState::kDone, Status::kOk, "", 0});
  ExpectError(op->Wait(absl::InfiniteFuture()).status(), Status::kInternal, "op 7");
}

TEST_F(DriverOpsTest, TheEndOfTheLinkEndsTheWait) {
  Open();
  const auto op = Submit();
  worker_->Vanish();
  ExpectError(op->Wait(absl::InfiniteFuture()).status(), Status::kLinkClosed, "closed the link");
}

}  // namespace
}  // namespace superfluid::linkw
