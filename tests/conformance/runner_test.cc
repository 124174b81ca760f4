// What is not run after a failure, with a worker whose HELLO_ACK_W is wrong.

#include "tests/conformance/runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <variant>

#include "tests/tools/ctl/fake_worker.h"

namespace superfluid::conformance {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class RunnerTest : public testing::Test {
 protected:
  void Say(const std::string& capabilities) {
    std::get<linkw::HelloAck>(fake_.hello).capabilities_json = capabilities;
  }
  Result Run(const Check& check) { return runner_.Run(check); }

  ctl::FakeWorker fake_;
  Worker worker_{fake_.path()};
  Runner runner_{&worker_, nullptr, {}, 1};
  int runs_ = 0;
  const Check any_{.ids = "FRAME-1", .title = "any", .run = [this](Context&) { ++runs_; }};
  const Check tick_{
      .ids = "TICK-1", .title = "ticks", .run = [this](Context&) { ++runs_; }, .calls = {"tick"}};
  const Check capabilities_{.ids = "HELLO-12 HELLO-13",
                            .title = "the capabilities",
                            .run = [](Context&) { Fail("no vocab_size"); }};
};

TEST_F(RunnerTest, AWorkerInOrderIsAskedEverything) {
  Say(R"({"calls":["tick"]})");
  EXPECT_EQ(Run(any_).verdict, Verdict::kPass);
  EXPECT_EQ(Run(tick_).verdict, Verdict::kPass);
  EXPECT_EQ(runs_, 2);
}

TEST_F(RunnerTest, NothingIsRunAfterCapabilitiesThatCannotBeRead) {
  Say("[]");
  const Result first = Run(any_);
  EXPECT_EQ(first.verdict, Verdict::kFail);
  EXPECT_THAT(first.text, StartsWith("[HELLO-12] the capabilities are no JSON object"));
  for (const Check* check : {&any_, &tick_, &capabilities_}) {
    const Result next = Run(*check);
    EXPECT_EQ(next.verdict, Verdict::kSkip);
    EXPECT_THAT(next.text, StartsWith("not run: "));
    EXPECT_THAT(next.text, HasSubstr("[HELLO-12]"));
  }
  EXPECT_EQ(runs_, 0);
  EXPECT_TRUE(runner_.Calls().empty());
  fake_.WaitForConnections(2);  // one to see that it listens, one that says HELLO
}

TEST_F(RunnerTest, NoCallIsAskedForAfterCapabilitiesThatAreWrong) {
  Say(R"({"calls":["tick"]})");
  EXPECT_EQ(Run(capabilities_).verdict, Verdict::kFail);
  const Result tick = Run(tick_);
  EXPECT_EQ(tick.verdict, Verdict::kSkip);
  EXPECT_THAT(tick.text, HasSubstr("HELLO-12,HELLO-13 the capabilities failed"));
  EXPECT_EQ(Run(any_).verdict, Verdict::kPass) << "it needs no call";
  EXPECT_EQ(runs_, 1);
}

}  // namespace
}  // namespace superfluid::conformance
