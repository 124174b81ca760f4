#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <future>
#include <string>

#include "tests/tools/ctl/command_fixture.h"
#include "tests/tools/ctl/token_worker.h"

// How long generate and snapshot wait for a worker that says nothing.
namespace superfluid::ctl {
namespace {

using testing::HasSubstr;

constexpr int kNever = 1'000'000;

TokenWorker::Script AnswersAfterPings(int pings) {
  TokenWorker::Script script;
  script.pings_before_answer = pings;
  return script;
}

class PatienceCommandTest : public CommandTest {
 protected:
  ExitCode Generate(const TokenWorker& worker) {
    return RunWith(worker, {"--timeout", "100ms", "generate", "1", "--max-tokens", "3"});
  }
};

TEST_F(PatienceCommandTest, AWorkerThatWorksIsWaitedFor) {
  TokenWorker worker(AnswersAfterPings(3));
  worker.worker.pong.engine_state = linkw::EngineState::kBusy;
  EXPECT_EQ(Generate(worker), ExitCode::kOk) << err_.text;
}

TEST_F(PatienceCommandTest, AnOpThatMovesMuchIsWaitedFor) {
  TokenWorker worker(AnswersAfterPings(3));
  worker.worker.pong.engine_state = linkw::EngineState::kBusy;
  const std::string path = testing::TempDir() + "/patience.sfl";
  std::filesystem::remove(path);
  EXPECT_EQ(RunWith(worker, {"--timeout", "100ms", "snapshot", path, "--prompt", "1,2,3,4"}),
            ExitCode::kOk)
      << err_.text;
}

TEST_F(PatienceCommandTest, AStalledWorkerIsGivenUp) {
  TokenWorker worker(AnswersAfterPings(kNever));
  worker.worker.pong.engine_state = linkw::EngineState::kStalled;
  worker.worker.pong.step_age_us = 60'000'000;
  EXPECT_EQ(Generate(worker), ExitCode::kDeadline);
  EXPECT_THAT(err_.text,
              HasSubstr("did not answer a tick within 100 ms, and its engine is stalled"));
}

TEST_F(PatienceCommandTest, AWorkerWithNothingToDoIsGivenUp) {
  TokenWorker worker(AnswersAfterPings(kNever));
  EXPECT_EQ(Generate(worker), ExitCode::kDeadline);
  EXPECT_THAT(err_.text, HasSubstr("it has nothing to do"));
}

TEST_F(PatienceCommandTest, AWorkerThatIsSilentAltogetherIsGivenUp) {
  TokenWorker worker(AnswersAfterPings(kNever));
  worker.worker.pong.engine_state = linkw::EngineState::kBusy;
  std::promise<void> end;
  worker.worker.on_ping = [ended = end.get_future().share()](FakeLink&) { ended.wait(); };
  EXPECT_EQ(Generate(worker), ExitCode::kDeadline);
  EXPECT_THAT(err_.text, HasSubstr("it does not answer PING either"));
  end.set_value();
}

TEST_F(PatienceCommandTest, ANegativeSeedOrTokenIsRefused) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"1", "--seed", "-1"},
                                             {"1", "--seed", "18446744073709551616"},
                                             {"1", "--stop", "-0xFFFFFFFFFFFFFFF0"},
                                             {"--", "-0xFFFFFFFFFFFFFFF0"}}) {
    std::vector<std::string> line = {"--connect", "/nowhere", "generate"};
    line.insert(line.end(), arguments.begin(), arguments.end());
    EXPECT_EQ(Run(line), ExitCode::kUsage) << testing::PrintToString(line) << err_.text;
  }
}

}  // namespace
}  // namespace superfluid::ctl
