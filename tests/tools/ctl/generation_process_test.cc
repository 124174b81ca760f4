#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <string>

#include "tests/tools/ctl/child_process.h"
#include "tests/tools/ctl/token_worker.h"

// The binary as a process, with a worker that draws tokens: signals, pipes and terminals.
namespace superfluid::ctl {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(GenerateProcessTest, PrintsTokensWhenTheyComeAndStopsOnSigint) {
  TokenWorker worker(UntilStopped());
  ChildProcess ctl({"--connect", worker.path(), "generate", "1", "--lanes", "2"});
  EXPECT_THAT(ctl.ReadLine(), StartsWith("lane 0: "));  // long before the tick ends
  ctl.Signal(SIGINT);
  EXPECT_EQ(ctl.Wait(), 130);
  EXPECT_THAT(ctl.ReadRestOfOutput(), StartsWith("lane 1: "));
  const std::string errors = ctl.ReadErrors();
  EXPECT_THAT(errors, StartsWith("stopped: the worker stopped in "));
  EXPECT_THAT(errors, HasSubstr("2 tokens in "));
  EXPECT_THAT(errors, HasSubstr("ended by: stopped"));
}

TEST(GenerateProcessTest, StopsOnSigtermAsWell) {
  TokenWorker worker(UntilStopped());
  ChildProcess ctl({"--connect", worker.path(), "generate", "1", "--json"});
  ctl.ReadLine();
  ctl.Signal(SIGTERM);
  EXPECT_EQ(ctl.Wait(), 143);
  EXPECT_THAT(ctl.ReadRestOfOutput(), HasSubstr(R"("finish":"stopped")"));
}

TEST(GenerateProcessTest, QuitsAtOnceOnASecondSignal) {
  TokenWorker::Script script = UntilStopped();
  script.answers_stop = false;
  TokenWorker worker(script);
  ChildProcess ctl({"--connect", worker.path(), "--timeout", "1h", "generate", "1", "--json"});
  ctl.ReadLine();
  ctl.Signal(SIGINT);
  ctl.ReadLine();  // the worker has seen the stop
  ctl.Signal(SIGINT);
  EXPECT_EQ(ctl.Wait(), 130);
  worker.worker.WaitForDisconnect();
}

TEST(GenerateProcessTest, StopsWhenItsReaderGoesAway) {
  TokenWorker worker(UntilStopped());
  ChildProcess ctl({"--connect", worker.path(), "generate", "1", "--json"});
  ctl.ReadLine();
  ctl.CloseOutput();  // nothing more is written: it has to notice by itself
  EXPECT_EQ(ctl.Wait(), 141);
  EXPECT_EQ(ctl.ReadErrors(), "");
}

TEST(SnapshotProcessTest, CancelsItsOpAndWritesNothing) {
  const std::string path = testing::TempDir() + "/interrupted.sfl";
  TokenWorker::Script script;
  uint64_t submit = 0;
  script.instead = [&](FakeLink& link, uint64_t seq, const linkw::DriverMessage& message) {
    if (std::holds_alternative<linkw::StateOpSubmit>(message)) {
      submit = seq;
      link.Send(linkw::StateOpAccepted{linkw::Status::kOk, "", linkw::OpHandle{5}}, seq);
      return true;
    }
    if (!std::holds_alternative<linkw::OpCancel>(message)) return false;
    link.Send(linkw::StateOpDone{linkw::OpHandle{5}, linkw::OpState::kCancelled,
                                 linkw::Status::kCancelled, "", 0},
              submit);
    return true;
  };
  TokenWorker worker(script);
  ChildProcess ctl({"--connect", worker.path(), "snapshot", path, "--prompt", "1"});
  worker.worker.WaitFor<linkw::StateOpSubmit>();
  ctl.Signal(SIGINT);
  EXPECT_EQ(ctl.Wait(), 130);
  EXPECT_EQ(ctl.ReadErrors(), "stopped: nothing was written\n");
  EXPECT_FALSE(std::filesystem::exists(path));
}

// ---- top

TEST(TopProcessTest, RedrawsInPlaceUntilQIsPressed) {
  FakeWorker worker;
  worker.pong.engine_steps = 77;
  ChildProcess ctl({"--connect", worker.path(), "top", "--interval", "10"},
                   {.terminal_as_console = true});
  const std::string first = ctl.ReadUntil("q or Ctrl-C ends");
  EXPECT_THAT(first, HasSubstr("\x1b[?25l"));
  EXPECT_THAT(first, HasSubstr("steps 77"));
  EXPECT_FALSE(ctl.TerminalIsUsual());
  const std::string second = ctl.ReadUntil("q or Ctrl-C ends");
  EXPECT_THAT(second, HasSubstr("\r\x1b[11A")) << "up again, over 11 lines";
  ctl.WriteInput("xq");
  const std::string rest = ctl.ReadUntil("\x1b[?25h");
  EXPECT_THAT(rest, HasSubstr("\x1b[?25h"));
  EXPECT_EQ(ctl.Wait(), 0);
  EXPECT_TRUE(ctl.TerminalIsUsual());
}

TEST(TopProcessTest, DrawsAnewWhenTheTerminalHasAnotherSize) {
  FakeWorker worker;
  ChildProcess ctl({"--connect", worker.path(), "top", "--interval", "10"},
                   {.terminal_as_console = true});
  ctl.ReadUntil("q or Ctrl-C ends");
  ctl.Resize(40, 100);
  EXPECT_THAT(ctl.ReadUntil("\x1b[H\x1b[2J"), HasSubstr("\x1b[H\x1b[2J"));
  ctl.ReadUntil("q or Ctrl-C ends");
  EXPECT_THAT(ctl.ReadUntil("q or Ctrl-C ends"), HasSubstr("\r\x1b[11A"));
  ctl.WriteInput("q");
  EXPECT_EQ(ctl.Wait(), 0);
}

TEST(TopProcessTest, GivesTheTerminalBackOnSigint) {
  FakeWorker worker;
  ChildProcess ctl({"--connect", worker.path(), "top"}, {.terminal_as_console = true});
  ctl.ReadUntil("q or Ctrl-C ends");
  ctl.Signal(SIGINT);
  EXPECT_THAT(ctl.ReadUntil("\x1b[?25h"), HasSubstr("\x1b[?25h"));
  EXPECT_EQ(ctl.Wait(), 0);
  EXPECT_TRUE(ctl.TerminalIsUsual());
}

TEST(TopProcessTest, GivesTheTerminalBackWhenTheWorkerLeaves) {
  auto worker = std::make_unique<FakeWorker>();
  ChildProcess ctl({"--connect", worker->path(), "top", "--interval", "10"},
                   {.terminal_as_console = true});
  ctl.ReadUntil("q or Ctrl-C ends");
  worker.reset();
  EXPECT_THAT(ctl.ReadUntil("\x1b[?25h"), HasSubstr("\x1b[?25h"));
  EXPECT_EQ(ctl.Wait(), 3);
  EXPECT_TRUE(ctl.TerminalIsUsual());
  EXPECT_THAT(ctl.ReadErrors(), HasSubstr("LINK_CLOSED"));
}

TEST(TopProcessTest, ShowsWhatTelemetrySays) {
  FakeWorker worker;
  worker.on_ping = [](FakeLink& link) {
    link.Send(linkw::WorkerMessage(linkw::Telemetry{{{"lanes.active", 12}}}), 0);
  };
  ChildProcess ctl({"--connect", worker.path(), "top", "--interval", "10", "--json"});
  std::string line = ctl.ReadLine();
  while (line.find(R"("lanes":12)") == std::string::npos && !line.empty()) line = ctl.ReadLine();
  EXPECT_NE(line, "");
  ctl.Signal(SIGTERM);
  EXPECT_EQ(ctl.Wait(), 143);
}

}  // namespace
}  // namespace superfluid::ctl
