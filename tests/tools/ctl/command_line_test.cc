#include "tools/ctl/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include "absl/strings/str_split.h"
#include "shm/segment.h"
#include "tests/tools/ctl/fake_worker.h"
#include "tests/tools/ctl/scripts.h"
#include "tests/tools/ctl/string_output.h"
#include "tests/tools/ctl/temp_file.h"
#include "tools/ctl/commands/commands.h"
#include "tools/ctl/formats/json_text.h"

namespace superfluid::ctl {
namespace {

using linkw::DriverMessage;
using linkw::Status;
using testing::HasSubstr;
using testing::StartsWith;

class CommandLineTest : public testing::Test {
 protected:
  // No worker of the machine's has a part in this.
  void SetUp() override { unsetenv("SUPERFLUID_SOCKET"); }

  ExitCode Run(const std::vector<std::string>& arguments) {
    out_ = StringOutput();
    err_ = StringOutput();
    out_.fail_with = out_status_;
    return RunCommandLine(arguments, {.out = &out_, .err = &err_, .in_fd = -1});
  }

  ExitCode RunWith(const FakeWorker& worker, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--connect", worker.path()});
    return Run(arguments);
  }

  std::vector<std::string> OutputLines() const {
    return absl::StrSplit(out_.text, '\n', absl::SkipEmpty());
  }

  StringOutput out_;
  StringOutput err_;
  absl::Status out_status_;
};

// ---- Without a worker

TEST_F(CommandLineTest, HelpNamesCommandsExamplesAndExitCodes) {
  EXPECT_EQ(Run({"--help"}), ExitCode::kOk);
  for (const Command& command : Commands()) EXPECT_THAT(out_.text, HasSubstr(command.summary));
  EXPECT_THAT(out_.text, HasSubstr("Examples:"));
  EXPECT_THAT(out_.text, HasSubstr(kExitCodesHelp));
  EXPECT_EQ(err_.text, "");
}

TEST_F(CommandLineTest, EveryCommandHasHelp) {
  for (const Command& command : Commands()) {
    EXPECT_EQ(Run({command.name, "--help"}), ExitCode::kOk);
    EXPECT_THAT(out_.text, HasSubstr(command.summary));
    const bool for_people = command.name != std::string_view("metrics");
    EXPECT_EQ(out_.text.find("--json") != std::string::npos, for_people) << command.name;
  }
}

TEST_F(CommandLineTest, SaysItsVersion) {
  EXPECT_EQ(Run({"--version"}), ExitCode::kOk);
  EXPECT_THAT(out_.text, StartsWith("superfluidctl "));
  EXPECT_THAT(out_.text, HasSubstr("(Link W version 8)"));
}

TEST_F(CommandLineTest, ReportsUsageErrorsInOneLine) {
  const std::vector<std::vector<std::string>> bad = {
      {},
      {"dance"},
      {"--nonsense", "ping"},
      {"--timeout", "0", "ping"},
      {"--timeout", "soon", "ping"},
      {"ping", "--count", "0"},
      {"ping"},                   // no socket
      {"--connect", "", "ping"},  // an empty one
      {"--connect", std::string(200, 'x'), "ping"},
      {"transcribe"},
      {"--connect", "/x", "transcribe", "a", "--srt", "--words"},
      {"drain", "--deadline", "x"}};
  for (const std::vector<std::string>& arguments : bad) {
    EXPECT_EQ(Run(arguments), ExitCode::kUsage) << testing::PrintToString(arguments);
    EXPECT_THAT(err_.text, StartsWith("superfluidctl: "));
    EXPECT_EQ(std::count(err_.text.begin(), err_.text.end(), '\n'), 1) << err_.text;
    EXPECT_EQ(out_.text, "");
  }
}

TEST_F(CommandLineTest, SaysHowToStartAWorker) {
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"ping"}, {"info"}, {"drain"}, {"transcribe", "a"}}) {
    std::vector<std::string> arguments = {"--connect", "/nowhere/w.sock"};
    arguments.insert(arguments.end(), command.begin(), command.end());
    EXPECT_EQ(Run(arguments), ExitCode::kNoLink);
    EXPECT_THAT(err_.text, HasSubstr("superfluid_worker --engine NAME --listen /nowhere/w.sock"));
  }
}

TEST_F(CommandLineTest, ReportsAFileThatItCannotReadItself) {
  EXPECT_EQ(Run({"--connect", "/x", "transcribe", "/nowhere/a.wav", "--inline"}),
            ExitCode::kFailed);
  EXPECT_THAT(err_.text, HasSubstr("cannot read /nowhere/a.wav"));
}

TEST_F(CommandLineTest, ReportsAnOutputThatItCannotMake) {
  EXPECT_EQ(Run({"--connect", "/x", "transcribe", "a", "--output", "/nowhere/a.srt"}),
            ExitCode::kFailed);
  EXPECT_THAT(err_.text, HasSubstr("cannot write /nowhere/a.srt"));
}

// ---- With one

TEST_F(CommandLineTest, InfoLooksOn) {
  FakeWorker worker;
  EXPECT_EQ(RunWith(worker, {"info"}), ExitCode::kOk) << err_.text;
  EXPECT_THAT(out_.text, HasSubstr("engine          fake 1\n"));
  EXPECT_EQ(worker.WaitFor<linkw::Hello>().role, linkw::Role::kObserver);
  EXPECT_EQ(RunWith(worker, {"info", "--json"}), ExitCode::kOk);
  EXPECT_EQ(Json::parse(out_.text)["capabilities"]["name"], "fake");
}

TEST_F(CommandLineTest, TakesTheSocketFromTheEnvironment) {
  FakeWorker worker;
  setenv("SUPERFLUID_SOCKET", worker.path().c_str(), 1);
  EXPECT_EQ(Run({"info"}), ExitCode::kOk) << err_.text;
}

TEST_F(CommandLineTest, TakesGlobalOptionsBehindTheCommandToo) {
  FakeWorker worker;
  EXPECT_EQ(Run({"info", "--connect", worker.path()}), ExitCode::kOk) << err_.text;
}

TEST_F(CommandLineTest, PingLooksOn) {
  FakeWorker worker;
  worker.pong.engine_steps = 77;
  EXPECT_EQ(RunWith(worker, {"ping"}), ExitCode::kOk) << err_.text;
  EXPECT_THAT(out_.text, HasSubstr("77 steps"));
  EXPECT_EQ(worker.WaitFor<linkw::Hello>().role, linkw::Role::kObserver);
}

TEST_F(CommandLineTest, PingsSeveralTimes) {
  FakeWorker worker;
  EXPECT_EQ(RunWith(worker, {"ping", "--count", "3", "--interval", "0"}), ExitCode::kOk);
  EXPECT_EQ(OutputLines().size(), 4u);
  EXPECT_THAT(OutputLines()[3], StartsWith("3 answers: fastest "));
  EXPECT_EQ(RunWith(worker, {"ping", "--count", "3", "--interval", "0", "--json"}), ExitCode::kOk);
  EXPECT_EQ(OutputLines().size(), 3u);
  EXPECT_EQ(Json::parse(OutputLines()[2])["engine_state"], "idle");
}

TEST_F(CommandLineTest, PingFailsIfTheEngineIsBroken) {
  for (const auto state : {linkw::EngineState::kStalled, linkw::EngineState::kFailed}) {
    FakeWorker worker;
    worker.pong.engine_state = state;
    EXPECT_EQ(RunWith(worker, {"ping"}), ExitCode::kFailed);
    const bool stalled = state == linkw::EngineState::kStalled;
    EXPECT_THAT(err_.text, HasSubstr(stalled ? "a step takes longer than it should; if this lasts"
                                             : "the worker has to be restarted"));
  }
}

TEST_F(CommandLineTest, ReportsAReaderThatLeft) {
  FakeWorker worker;
  out_status_ = absl::AbortedError("gone");
  EXPECT_EQ(RunWith(worker, {"ping"}), ExitCode::kOutputClosed);
  EXPECT_EQ(err_.text, "");
}

TEST_F(CommandLineTest, ReportsAWorkerThatIsBusyWithAnotherDriver) {
  FakeWorker worker;
  worker.hello = linkw::Error{.status = Status::kBusy, .message = "driven by x", .fatal = true};
  EXPECT_EQ(RunWith(worker, {"transcribe", "a.wav"}), ExitCode::kFailed);
  EXPECT_THAT(err_.text, HasSubstr("driven by x; one client at a time drives a worker"));
}

TEST_F(CommandLineTest, Drains) {
  FakeWorker worker([](FakeLink& link, uint64_t seq, const DriverMessage& message) {
    if (std::holds_alternative<linkw::DrainRequest>(message)) {
      link.Send(linkw::Drained{.finished = 2, .cancelled = 1}, seq);
    }
  });
  EXPECT_EQ(RunWith(worker, {"drain", "--cancel", "--deadline", "1500"}), ExitCode::kOk);
  EXPECT_THAT(out_.text, HasSubstr("2 requests finished, 1 cancelled"));
  EXPECT_EQ(worker.WaitFor<linkw::DrainRequest>(), (linkw::DrainRequest{true, 1500, true}));
  EXPECT_EQ(worker.WaitFor<linkw::Hello>().role, linkw::Role::kObserver);
  EXPECT_EQ(RunWith(worker, {"drain", "--json"}), ExitCode::kOk);
  EXPECT_EQ(Json::parse(out_.text)["cancelled"], 1);
}

TEST_F(CommandLineTest, TimesOutIfThereIsNoAnswer) {
  FakeWorker worker;
  EXPECT_EQ(RunWith(worker, {"--timeout", "50ms", "drain", "--deadline", "1"}),
            ExitCode::kDeadline);
}

// ---- Transcriptions

TEST_F(CommandLineTest, TranscribesForPeople) {
  FakeWorker worker(TranscribeAll);
  EXPECT_EQ(RunWith(worker, {"transcribe", "talk.flac"}), ExitCode::kOk) << err_.text;
  EXPECT_THAT(out_.text, StartsWith("[00:00:01.230 --> 00:00:03.450] one two\n"
                                    "[00:00:04.000 --> 00:00:05.000] three\n"
                                    "\n"
                                    "one two three\n"
                                    "\n"
                                    "audio        00:00:10.000\n"));
  EXPECT_EQ(err_.text, "");
  const std::string path = std::get<linkw::AudioPath>(worker.WaitForTranscribe().audio).path;
  EXPECT_THAT(path, StartsWith("/"));
  EXPECT_THAT(path, testing::EndsWith("/talk.flac"));
}

TEST_F(CommandLineTest, TranscribesForPrograms) {
  FakeWorker worker(TranscribeAll);
  EXPECT_EQ(RunWith(worker, {"transcribe", "a", "--json"}), ExitCode::kOk);
  EXPECT_EQ(Json::parse(out_.text)["text"], "one two three");
  EXPECT_EQ(RunWith(worker, {"transcribe", "a", "--json", "--stream"}), ExitCode::kOk);
  ASSERT_EQ(OutputLines().size(), 3u);
  EXPECT_EQ(Json::parse(OutputLines()[0])["text"], "one two");
  EXPECT_EQ(Json::parse(OutputLines()[2])["event"], "result");
  EXPECT_EQ(RunWith(worker, {"transcribe", "a", "--srt"}), ExitCode::kOk);
  EXPECT_THAT(out_.text, StartsWith("1\n00:00:01,230 --> 00:00:03,450\none two\n\n2\n"));
  EXPECT_EQ(RunWith(worker, {"transcribe", "a", "--vtt", "--no-stream"}), ExitCode::kOk);
  EXPECT_THAT(out_.text, StartsWith("WEBVTT\n\n00:00:01.230 --> 00:00:03.450\none two\n\n"));
}

TEST_F(CommandLineTest, WritesToAFile) {
  FakeWorker worker(TranscribeAll);
  const std::string path = testing::TempDir() + "/talk.srt";
  EXPECT_EQ(RunWith(worker, {"transcribe", "a", "--srt", "--output", path}), ExitCode::kOk);
  EXPECT_EQ(out_.text, "");
  EXPECT_THAT(err_.text, HasSubstr("talk.srt: 2 segments from 00:00:10.000 of audio"));
  std::stringstream file;
  file << std::ifstream(path).rdbuf();
  EXPECT_THAT(file.str(), StartsWith("1\n00:00:01,230 --> "));
}

TEST_F(CommandLineTest, PrintsTheWorkersStatusIfItFails) {
  FakeWorker worker([](FakeLink& link, uint64_t seq, const DriverMessage& message) {
    if (AsTranscribe(message) == nullptr) return;
    link.Send(linkw::StateSyncResult{.status = Status::kNotFound, .message = "no such file"}, seq);
  });
  EXPECT_EQ(RunWith(worker, {"transcribe", "a.wav"}), ExitCode::kFailed);
  EXPECT_THAT(err_.text, StartsWith("superfluidctl: a.wav: NOT_FOUND: no such file; "));
  EXPECT_EQ(out_.text, "");
  EXPECT_EQ(RunWith(worker, {"transcribe", "a.wav", "--json"}), ExitCode::kFailed);
  EXPECT_EQ(Json::parse(out_.text)["status"], "NOT_FOUND");
}

TEST_F(CommandLineTest, PrintsAnErrorFrameTheSameWay) {
  FakeWorker worker([](FakeLink& link, uint64_t seq, const DriverMessage& message) {
    if (AsTranscribe(message) == nullptr) return;
    link.Send(linkw::Error{.status = Status::kBusy, .message = "4 are open"}, seq);
  });
  EXPECT_EQ(RunWith(worker, {"transcribe", "a.wav"}), ExitCode::kFailed);
  EXPECT_THAT(err_.text, StartsWith("superfluidctl: a.wav: BUSY: 4 are open; "));
}

TEST_F(CommandLineTest, TellsTheDeadlineApart) {
  FakeWorker worker([](FakeLink& link, uint64_t seq, const DriverMessage& message) {
    if (AsTranscribe(message) == nullptr) return;
    TranscriptionOutcome outcome = MakeOutcome();
    outcome.status = Status::kDeadlineExceeded;
    link.Send(Answer(outcome), seq);
  });
  EXPECT_EQ(RunWith(worker, {"transcribe", "a", "--deadline", "100"}), ExitCode::kDeadline);
  EXPECT_EQ(worker.WaitForTranscribe().deadline_ms, 100u);
  EXPECT_THAT(out_.text, HasSubstr("one two"));  // what there was by then
}

TEST_F(CommandLineTest, GivesUpOnAWorkerThatMissesTheDeadline) {
  FakeWorker worker(TranscribeForEver);
  EXPECT_EQ(RunWith(worker, {"--timeout", "100ms", "transcribe", "a", "--deadline", "1"}),
            ExitCode::kDeadline);
  EXPECT_THAT(err_.text, HasSubstr("did not answer"));
}

TEST_F(CommandLineTest, CancelsAfterATime) {
  FakeWorker worker(TranscribeUntilCancelled);
  EXPECT_EQ(RunWith(worker, {"transcribe", "a", "--cancel-after", "0"}), ExitCode::kCancelled);
  EXPECT_THAT(out_.text, HasSubstr("] one two\n"));
  EXPECT_THAT(err_.text, StartsWith("cancelled: the worker stopped in "));
  EXPECT_THAT(err_.text, HasSubstr("(8.10 ms by its own clock"));
}

TEST_F(CommandLineTest, GivesUpOnAWorkerThatDoesNotAnswerACancel) {
  FakeWorker worker(TranscribeForEver);
  EXPECT_EQ(RunWith(worker, {"--timeout", "100ms", "transcribe", "a", "--cancel-after", "0"}),
            ExitCode::kDeadline);
  EXPECT_THAT(err_.text, HasSubstr("did not answer the cancel within 100 ms"));
}

TEST_F(CommandLineTest, ReportsAWorkerThatVanishes) {
  FakeWorker worker([](FakeLink& link, uint64_t seq, const DriverMessage& message) {
    if (AsTranscribe(message) == nullptr) return;
    link.Send(MakeSegment(0, 1230, 3450, "one two"), seq);
    link.Close();
  });
  EXPECT_EQ(RunWith(worker, {"transcribe", "a"}), ExitCode::kNoLink);
  EXPECT_THAT(out_.text, HasSubstr("] one two\n"));
  EXPECT_THAT(err_.text, HasSubstr("LINK_CLOSED"));
}

TEST_F(CommandLineTest, CancelsWhenTheReaderLeft) {
  FakeWorker worker(TranscribeUntilCancelled);
  out_status_ = absl::AbortedError("gone");
  EXPECT_EQ(RunWith(worker, {"transcribe", "a"}), ExitCode::kOutputClosed);
  EXPECT_EQ(err_.text, "");
}

TEST_F(CommandLineTest, CancelsWhenTheOutputFails) {
  FakeWorker worker(TranscribeUntilCancelled);
  out_status_ = absl::InternalError("cannot write the output: disk full");
  EXPECT_EQ(RunWith(worker, {"transcribe", "a"}), ExitCode::kFailed);
  EXPECT_EQ(err_.text, "superfluidctl: cannot write the output: disk full\n");
}

TEST_F(CommandLineTest, SendsTheBytesOfAFile) {
  FakeWorker worker(TranscribeAll);
  const std::string path = WriteTempFile("sent.flac", "the bytes");
  EXPECT_EQ(RunWith(worker, {"transcribe", path, "--inline"}), ExitCode::kOk) << err_.text;
  auto [tag, fd] = worker.ReceiveFd();
  const auto attach = worker.WaitFor<linkw::BufAttach>();
  EXPECT_EQ(tag, static_cast<uint64_t>(attach.buf_id));
  const linkw::Transcribe request = worker.WaitForTranscribe();
  const auto& buffer = std::get<linkw::AudioBuffer>(request.audio);
  EXPECT_EQ(buffer.buf_id, attach.buf_id);
  EXPECT_EQ(buffer.length, 9u);
  EXPECT_TRUE(std::holds_alternative<linkw::EncodedFile>(buffer.format));
  absl::StatusOr<Segment> segment =
      Segment::Attach(std::move(fd), attach.len, SegmentAccess::kReadOnly);
  ASSERT_TRUE(segment.ok()) << segment.status();
  EXPECT_EQ(std::memcmp(segment->data(), "the bytes", 9), 0);
}

TEST_F(CommandLineTest, SendsRawSamplesAsWhatTheyAre) {
  FakeWorker worker(TranscribeAll);
  const std::string path = WriteTempFile("sent.raw", "samples!");
  EXPECT_EQ(RunWith(worker, {"transcribe", path, "--raw", "--rate", "8000"}), ExitCode::kOk);
  const linkw::Transcribe request = worker.WaitForTranscribe();
  EXPECT_EQ(std::get<linkw::PcmFormat>(std::get<linkw::AudioBuffer>(request.audio).format),
            (linkw::PcmFormat{8000, 1, linkw::SampleFormat::kS16}));
}

TEST_F(CommandLineTest, SaysWhyTheWorkerDidNotTakeTheBytes) {
  FakeWorker worker([](FakeLink& link, uint64_t seq, const DriverMessage& message) {
    if (std::holds_alternative<linkw::BufAttach>(message)) {
      link.Send(linkw::Error{.status = Status::kOutOfMemory, .message = "too many buffers"}, seq);
    } else if (AsTranscribe(message) != nullptr) {
      link.Send(linkw::StateSyncResult{.status = Status::kUnknownHandle, .message = "buffer 1"},
                seq);
    }
  });
  const std::string path = WriteTempFile("sent.flac", "the bytes");
  EXPECT_EQ(RunWith(worker, {"transcribe", path, "--inline"}), ExitCode::kFailed);
  EXPECT_THAT(err_.text, HasSubstr("OUT_OF_MEMORY: too many buffers"));
}

TEST_F(CommandLineTest, FeedsAFileLive) {
  std::string samples;
  uint64_t request = 0;
  FakeWorker worker([&](FakeLink& link, uint64_t seq, const DriverMessage& message) {
    if (AsTranscribe(message) != nullptr) request = seq;
    const auto* audio = std::get_if<linkw::TranscribeAudio>(&message);
    if (audio == nullptr) return;
    EXPECT_EQ(audio->request_seq, request);
    samples += std::get<std::string>(audio->data);
    if (audio->end_of_stream) link.Send(Answer(MakeOutcome()), request);
  });
  const std::string sent(10'000, 's');
  const std::string path =
      WriteTempFile("live.wav", MakeWav({.rate_hz = 16000, .data_length = 10'000}, sent));
  EXPECT_EQ(RunWith(worker, {"transcribe", path, "--live", "--speed", "0"}), ExitCode::kOk)
      << err_.text;
  EXPECT_EQ(samples, sent);
  EXPECT_EQ(std::get<linkw::AudioLive>(worker.WaitForTranscribe().audio).format,
            (linkw::PcmFormat{16000, 1, linkw::SampleFormat::kS16}));
}

TEST_F(CommandLineTest, StopsFeedingWhenTheWorkerHasEnough) {
  FakeWorker worker(TranscribeAll);
  const std::string path = WriteTempFile("long.raw", std::string(1'000'000, 's'));
  EXPECT_EQ(RunWith(worker, {"transcribe", path, "--live", "--raw"}), ExitCode::kOk) << err_.text;
}

}  // namespace
}  // namespace superfluid::ctl
