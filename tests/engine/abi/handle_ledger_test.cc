#include "engine/abi/handle_ledger.h"

#include <gtest/gtest.h>

namespace superfluid {
namespace {

class HandleLedgerTest : public ::testing::Test {
 protected:
  absl::Status Add(uint64_t handle) { return ledger_.Add("fork", handle); }

  HandleLedger ledger_{"sequence"};
};

TEST_F(HandleLedgerTest, KnowsWhatIsLive) {
  EXPECT_TRUE(Add(5).ok());
  EXPECT_TRUE(ledger_.CheckLive(5).ok());
  EXPECT_EQ(ledger_.CheckLive(6), absl::NotFoundError("no sequence has the handle 6"));
  ledger_.Remove(5);
  EXPECT_EQ(ledger_.CheckLive(5).code(), absl::StatusCode::kNotFound);
}

TEST_F(HandleLedgerTest, RefusesZero) {
  EXPECT_EQ(Add(0), absl::InternalError("fork: the engine handed out 0 as a sequence"));
}

TEST_F(HandleLedgerTest, RefusesASecondTimeAlsoAfterItIsGone) {
  EXPECT_TRUE(Add(5).ok());
  EXPECT_EQ(Add(5), absl::InternalError("fork: the engine handed out sequence 5 a second time"));
  ledger_.Remove(5);
  EXPECT_EQ(Add(5).code(), absl::StatusCode::kInternal);
  EXPECT_FALSE(ledger_.live(5));
}

TEST_F(HandleLedgerTest, CheckNewNotesNothing) {
  EXPECT_TRUE(ledger_.CheckNew("fork", 5).ok());
  EXPECT_FALSE(ledger_.live(5));
}

TEST_F(HandleLedgerTest, RemoveAllRemembersThemToo) {
  EXPECT_TRUE(Add(5).ok());
  EXPECT_TRUE(Add(6).ok());
  ledger_.RemoveAll();
  EXPECT_FALSE(ledger_.live(6));
  EXPECT_EQ(Add(6).code(), absl::StatusCode::kInternal);
}

TEST_F(HandleLedgerTest, RemembersSoManyThatAreGone) {
  for (uint64_t handle = 1; handle <= HandleLedger::kRemembered + 1; ++handle) {
    ASSERT_TRUE(Add(handle).ok());
    ledger_.Remove(handle);
  }
  EXPECT_EQ(Add(2).code(), absl::StatusCode::kInternal);
  EXPECT_TRUE(Add(1).ok());
}

TEST_F(HandleLedgerTest, RemovingWhatIsNotThereDoesNothing) {
  ledger_.Remove(9);
  EXPECT_TRUE(Add(9).ok());
}

}  // namespace
}  // namespace superfluid
