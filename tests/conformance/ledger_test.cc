// The suite sees what is wrong whatever a check looks at.

#include "tests/conformance/ledger.h"

#include <string>

#include "gtest/gtest.h"
#include "tests/conformance/check.h"

namespace superfluid::conformance {
namespace {

using linkw::MessageType;
using linkw::OpHandle;
using linkw::Status;

class LedgerTest : public testing::Test {
 protected:
  LedgerTest() {
    ledger_.Sent(1, MessageType::kTickSubmit);
    ledger_.Sent(2, MessageType::kStateOpSubmit);
    ledger_.Sent(3, MessageType::kPing);
  }
  void ExpectFailed(uint64_t correlation, const linkw::WorkerMessage& message,
                    const std::string& id) {
    try {
      ledger_.Received(correlation, message);
      ADD_FAILURE() << "nothing was seen, expected " << id;
    } catch (const Failed& failed) {
      EXPECT_NE(std::string(failed.what()).find(id), std::string::npos) << failed.what();
    }
  }

  Ledger ledger_;
};

TEST_F(LedgerTest, OrdinaryAnswersPass) {
  ledger_.Received(3, linkw::Pong{});
  ledger_.Received(1, linkw::TickEmit{});
  ledger_.Received(2, linkw::StateOpAccepted{.op_handle = OpHandle(7)});
  ledger_.Received(2, linkw::StateOpDone{.op_handle = OpHandle(7)});
  linkw::TickResult result;
  result.events.op_completions = {{.op_handle = OpHandle(7)}};
  ledger_.Received(1, result);
  ledger_.Received(0, linkw::Telemetry{});
}

TEST_F(LedgerTest, AnswersToNothingAndOfTheWrongTypeFail) {
  ExpectFailed(9, linkw::Pong{}, "FRAME-6");
  ExpectFailed(3, linkw::TickResult{}, "FRAME-6");
  ExpectFailed(9, linkw::TickEmit{}, "FRAME-6");
}

TEST_F(LedgerTest, ASecondAnswerFails) {
  ledger_.Received(3, linkw::Pong{});
  ExpectFailed(3, linkw::Error{.status = Status::kBusy}, "ALWAYS-1");
}

TEST_F(LedgerTest, AnErrorWithoutAStatusFails) {
  ExpectFailed(3, linkw::Error{.status = Status::kOk}, "ERR-4");
}

TEST_F(LedgerTest, EmitsAfterTheResultFail) {
  ledger_.Received(1, linkw::TickResult{});
  ExpectFailed(1, linkw::TickEmit{}, "EMIT-2");
}

TEST_F(LedgerTest, DoneBeforeAcceptedOrTwiceFails) {
  ExpectFailed(2, linkw::StateOpDone{.op_handle = OpHandle(7)}, "OP-1");
  ledger_.Received(2, linkw::StateOpAccepted{.op_handle = OpHandle(7)});
  ExpectFailed(1, linkw::StateOpDone{.op_handle = OpHandle(7)}, "OP-1");
  ledger_.Received(2, linkw::StateOpDone{.op_handle = OpHandle(7)});
  ExpectFailed(2, linkw::StateOpDone{.op_handle = OpHandle(7)}, "OP-1");
}

TEST_F(LedgerTest, AnOpListedBeforeItsDoneFails) {
  linkw::TickResult result;
  result.events.op_completions = {{.op_handle = OpHandle(7)}};
  ExpectFailed(1, result, "OP-10");
}

}  // namespace
}  // namespace superfluid::conformance
