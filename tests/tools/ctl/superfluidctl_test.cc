#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <string>

#include "tests/tools/ctl/child_process.h"
#include "tests/tools/ctl/fake_worker.h"
#include "tests/tools/ctl/scripts.h"

// The binary as a process: what depends on signals, pipes and terminals.
namespace superfluid::ctl {
namespace {

using linkw::DriverMessage;
using testing::HasSubstr;
using testing::StartsWith;

constexpr char kFirstLine[] = "[00:00:01.230 --> 00:00:03.450] one two\n";

TEST(SuperfluidctlTest, PrintsSegmentsWhenTheyCome) {
  FakeWorker worker(TranscribeUntilCancelled);
  ChildProcess ctl({"--connect", worker.path(), "transcribe", "a"});
  EXPECT_EQ(ctl.ReadLine(), kFirstLine);  // long before the answer
  ctl.Signal(SIGINT);
  EXPECT_EQ(ctl.Wait(), 130);
}

TEST(SuperfluidctlTest, CancelsOnSigintAndWaitsForTheAnswer) {
  FakeWorker worker(TranscribeUntilCancelled);
  ChildProcess ctl({"--connect", worker.path(), "transcribe", "a"});
  ctl.ReadLine();
  ctl.Signal(SIGINT);
  EXPECT_EQ(ctl.Wait(), 130);
  EXPECT_THAT(ctl.ReadRestOfOutput(), StartsWith("\none two\n\ntranscribed  00:00:03.450 of "));
  const std::string errors = ctl.ReadErrors();
  EXPECT_THAT(errors, StartsWith("cancelled: the worker stopped in "));
  EXPECT_THAT(errors, HasSubstr("(8.10 ms by its own clock, 0 engine steps after the cancel)\n"));
}

TEST(SuperfluidctlTest, CancelsOnSigtermAsWell) {
  FakeWorker worker(TranscribeUntilCancelled);
  ChildProcess ctl({"--connect", worker.path(), "transcribe", "a", "--json", "--stream"});
  ctl.ReadLine();
  ctl.Signal(SIGTERM);
  EXPECT_EQ(ctl.Wait(), 143);
  EXPECT_THAT(ctl.ReadRestOfOutput(), HasSubstr(R"("status":"CANCELLED")"));
}

TEST(SuperfluidctlTest, QuitsAtOnceOnASecondSignal) {
  FakeWorker worker(TranscribeForEver);
  ChildProcess ctl({"--connect", worker.path(), "--timeout", "1h", "transcribe", "a"});
  ctl.ReadLine();
  ctl.Signal(SIGINT);
  worker.WaitFor<linkw::TranscribeCancel>();
  ctl.Signal(SIGINT);
  EXPECT_EQ(ctl.Wait(), 130);
  worker.WaitForDisconnect();
}

TEST(SuperfluidctlTest, CancelsWhenItsReaderGoesAway) {
  FakeWorker worker(TranscribeUntilCancelled);
  ChildProcess ctl({"--connect", worker.path(), "transcribe", "a"});
  ctl.ReadLine();
  ctl.CloseOutput();  // nothing more is written: it has to notice by itself
  worker.WaitFor<linkw::TranscribeCancel>();
  EXPECT_EQ(ctl.Wait(), 141);
  EXPECT_EQ(ctl.ReadErrors(), "");
}

TEST(SuperfluidctlTest, SurvivesAReaderThatWasNeverThere) {
  FakeWorker worker;
  ChildProcess ctl({"--connect", worker.path(), "info"});
  ctl.CloseOutput();
  const int code = ctl.Wait();
  EXPECT_TRUE(code == 141 || code == 0) << code;  // 0: it was quicker than we
}

TEST(SuperfluidctlTest, FailsIfItsOutputIsClosed) {
  FakeWorker worker;
  for (const std::string command : {"info", "ping"}) {
    ChildProcess ctl({"--connect", worker.path(), command}, {.closed_stdout = true});
    EXPECT_EQ(ctl.Wait(), 1);
    EXPECT_THAT(ctl.ReadErrors(), StartsWith("superfluidctl: cannot write the output: "));
  }
}

TEST(SuperfluidctlTest, FeedsStandardInputLive) {
  uint64_t request = 0;
  std::string samples;
  FakeWorker worker([&](FakeLink& link, uint64_t seq, const DriverMessage& message) {
    if (AsTranscribe(message) != nullptr) request = seq;
    const auto* audio = std::get_if<linkw::TranscribeAudio>(&message);
    if (audio == nullptr) return;
    samples += std::get<std::string>(audio->data);
    if (audio->end_of_stream) link.Send(Answer(MakeOutcome()), request);
  });
  ChildProcess ctl({"--connect", worker.path(), "transcribe", "-", "--rate", "8000"});
  ctl.WriteInput("raw samples, ");
  worker.WaitFor<linkw::TranscribeAudio>();  // they go out as they come
  ctl.WriteInput("and more");
  ctl.CloseInput();
  EXPECT_EQ(ctl.Wait(), 0) << ctl.ReadErrors();
  EXPECT_EQ(samples, "raw samples, and more");
  EXPECT_EQ(std::get<linkw::AudioLive>(worker.WaitForTranscribe().audio).format,
            (linkw::PcmFormat{8000, 1, linkw::SampleFormat::kS16}));
}

TEST(SuperfluidctlTest, IsInterruptedWhileItWaitsForInput) {
  FakeWorker worker(TranscribeUntilCancelled);
  ChildProcess ctl({"--connect", worker.path(), "transcribe", "-"});
  ctl.WriteInput("raw samples, ");
  ctl.ReadLine();
  ctl.Signal(SIGINT);
  EXPECT_EQ(ctl.Wait(), 130);
}

TEST(SuperfluidctlTest, DrawsAProgressBarOnATerminalOnly) {
  FakeWorker worker(TranscribeUntilCancelled);
  ChildProcess ctl({"--connect", worker.path(), "transcribe", "a"}, {.terminal_as_stderr = true});
  EXPECT_EQ(ctl.ReadLine(), kFirstLine);
  ctl.Signal(SIGINT);
  EXPECT_EQ(ctl.Wait(), 130);
  const std::string terminal = ctl.ReadErrors();
  EXPECT_THAT(terminal, HasSubstr(" 34% ["));
  EXPECT_THAT(terminal, HasSubstr("\r\x1b[Kcancelled: "));
}

TEST(SuperfluidctlTest, DrawsNoProgressBarWhenToldNotTo) {
  FakeWorker worker(TranscribeAll);
  ChildProcess ctl({"--connect", worker.path(), "transcribe", "a", "--quiet"},
                   {.terminal_as_stderr = true});
  EXPECT_THAT(ctl.ReadRestOfOutput(), HasSubstr("one two three\n"));
  EXPECT_EQ(ctl.Wait(), 0);
  EXPECT_EQ(ctl.ReadErrors(), "");
}

}  // namespace
}  // namespace superfluid::ctl
