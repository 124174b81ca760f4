#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "tests/tools/ctl/command_fixture.h"
#include "tests/tools/ctl/fake_worker.h"
#include "tools/ctl/commands/commands.h"

// What superfluidctl says to a command line that is wrong, and to a worker that refuses it.
namespace superfluid::ctl {
namespace {

using linkw::Status;
using testing::HasSubstr;
using testing::Not;

using UsageTest = CommandTest;

TEST_F(UsageTest, NamesAnUnknownCommandAndListsTheOthers) {
  EXPECT_EQ(Run({"bogus"}), ExitCode::kUsage);
  EXPECT_THAT(err_.text, HasSubstr("unknown command 'bogus'"));
  for (const Command& command : Commands()) EXPECT_THAT(err_.text, HasSubstr(command.name));
  EXPECT_EQ(Run({"--connect", "/x", "bogus", "talk.wav"}), ExitCode::kUsage);
  EXPECT_THAT(err_.text, HasSubstr("unknown command 'bogus'"));
  EXPECT_EQ(Run({}), ExitCode::kUsage);
  EXPECT_THAT(err_.text, HasSubstr("a command is missing: transcribe, "));
}

TEST_F(UsageTest, NamesAnUnknownOption) {
  EXPECT_EQ(Run({"--bogus"}), ExitCode::kUsage);
  EXPECT_THAT(err_.text, HasSubstr("unknown option '--bogus'"));
  EXPECT_EQ(Run({"ping", "--bogus"}), ExitCode::kUsage);
  EXPECT_THAT(err_.text, HasSubstr("--bogus"));
}

TEST_F(UsageTest, KnowsAFileThatBeginsWithADash) {
  EXPECT_EQ(Run({"--connect", "/x", "transcribe", "-dash.wav"}), ExitCode::kUsage);
  EXPECT_THAT(err_.text, HasSubstr("a file of that name is ./-dash.wav"));
}

TEST_F(UsageTest, SaysWhatATimeLooksLike) {
  const std::vector<std::vector<std::string>> bad = {{"--timeout", "soon", "ping"},
                                                     {"ping", "--interval", "soon"},
                                                     {"drain", "--deadline", "soon"},
                                                     {"top", "--interval", "soon"},
                                                     {"transcribe", "a", "--deadline", "soon"},
                                                     {"transcribe", "a", "--cancel-after", "soon"},
                                                     {"generate", "1", "--cancel-after", "soon"}};
  for (const std::vector<std::string>& arguments : bad) {
    EXPECT_EQ(Run(arguments), ExitCode::kUsage) << testing::PrintToString(arguments);
    EXPECT_THAT(err_.text, HasSubstr("a time with its unit such as 500ms or 2s"));
    EXPECT_EQ(std::count(err_.text.begin(), err_.text.end(), '\n'), 1) << err_.text;
  }
  EXPECT_EQ(Run({"ping", "--count", "abc"}), ExitCode::kUsage);
  EXPECT_THAT(err_.text, HasSubstr("'abc' is no whole number from 1 to 1000000"));
}

// ---- A worker that refuses

TEST_F(UsageTest, WaitsForAnotherDriverToLeave) {
  FakeWorker worker;
  worker.hello = linkw::Error{.status = Status::kBusy, .message = "driven by x", .fatal = true};
  EXPECT_EQ(RunWith(worker, {"--wait", "--timeout", "300ms", "transcribe", "a"}),
            ExitCode::kFailed);
  EXPECT_THAT(err_.text, HasSubstr("driven by x"));
  const std::vector<linkw::DriverMessage> messages = worker.messages();
  EXPECT_GE(std::count_if(
                messages.begin(), messages.end(),
                [](const auto& message) { return std::holds_alternative<linkw::Hello>(message); }),
            2);
}

TEST_F(UsageTest, DoesNotWaitUnasked) {
  FakeWorker worker;
  worker.hello = linkw::Error{.status = Status::kBusy, .message = "driven by x", .fatal = true};
  EXPECT_EQ(RunWith(worker, {"transcribe", "a"}), ExitCode::kFailed);
  EXPECT_THAT(err_.text, HasSubstr("--wait waits for the other one"));
  EXPECT_EQ(worker.messages().size(), 1u);
}

TEST_F(UsageTest, HearsWhyALinkWasClosed) {
  FakeWorker worker;
  worker.on_ping = [](FakeLink& link) {
    link.Send(linkw::Error{.status = Status::kDraining, .message = "going", .fatal = true}, 0);
    link.Close();
  };
  EXPECT_EQ(RunWith(worker, {"ping"}), ExitCode::kNoLink);
  EXPECT_THAT(err_.text, HasSubstr("DRAINING: going; the worker finishes what is open"));
  EXPECT_THAT(err_.text, Not(HasSubstr("still running?")));
}

}  // namespace
}  // namespace superfluid::ctl
