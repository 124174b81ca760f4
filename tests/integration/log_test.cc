// The log of a worker as a process: a reader that does not read, libraries that print, crashes.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "protocol/messages/status.h"
#include "tests/integration/worker_process.h"

namespace superfluid {
namespace {

using linkw::Status;
using ::testing::AnyOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> Sim(std::vector<std::string> options = {},
                             std::vector<std::string> arguments = {}) {
  arguments.insert(arguments.begin(), {"--engine", "sim"});
  for (std::string& option : options) {
    arguments.emplace_back("--engine-option");
    arguments.push_back(std::move(option));
  }
  return arguments;
}

// A pipe that is full, as the standard error of a worker whose parent does not read.
class UnreadLogTest : public testing::Test {
 protected:
  UnreadLogTest() {
    EXPECT_EQ(pipe2(ends_.data(), O_CLOEXEC), 0);
    EXPECT_GT(fcntl(ends_[1], F_SETPIPE_SZ, 4096), 0);
    fcntl(ends_[1], F_SETFL, O_NONBLOCK);
    const std::string page(4096, '.');
    while (write(ends_[1], page.data(), page.size()) > 0) {
    }
    fcntl(ends_[1], F_SETFL, 0);
  }
  ~UnreadLogTest() override {
    close(ends_[0]);
    close(ends_[1]);
  }

  WorkerStdio unread() const { return {.error_fd = ends_[1]}; }

  std::array<int, 2> ends_{-1, -1};
};

linkw::Transcribe LiveRequest() {
  linkw::Transcribe request;
  request.audio = linkw::AudioLive{
      {.sample_rate_hz = 16000, .channels = 1, .sample_format = linkw::SampleFormat::kS16}};
  request.stream = true;
  return request;
}

using Stream = std::unique_ptr<linkw::TranscriptionStream>;

// A second of something that is not silence, and the end.
Stream PushOneSecond(Stream stream) {
  std::string pcm(32000, '\0');
  for (size_t i = 0; i < pcm.size(); ++i) pcm[i] = static_cast<char>(i * 31 % 97);
  EXPECT_TRUE(stream->PushAudio(pcm, true).ok());
  return stream;
}

Stream TranscribeOneSecond(linkw::LinkClient& client) {
  auto stream = client.Transcribe(LiveRequest());
  EXPECT_TRUE(stream.ok()) << stream.status();
  return PushOneSecond(*std::move(stream));
}

TEST_F(UnreadLogTest, AWorkerServesAndEndsAsToldWhileNobodyReads) {
  WorkerProcess worker(Sim({}, {"--log-level", "trace"}), unread());
  auto driver = worker.Connect();
  ASSERT_NE(driver, nullptr);
  for (int i = 0; i < 20; ++i) {
    auto observer = worker.Connect(linkw::Role::kObserver);
    ASSERT_NE(observer, nullptr);
    EXPECT_TRUE(observer->Ping().ok());
  }
  const auto answer = TranscribeOneSecond(*driver)->Finish(absl::Now() + absl::Seconds(60));
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->status, Status::kOk);
  worker.Signal(SIGTERM);
  EXPECT_EQ(worker.Wait(), 0);
}

TEST_F(UnreadLogTest, AThirdSignalEndsTheProcessAtOnce) {
  WorkerProcess worker(
      Sim({"stuck_at_step=1", "stuck_ms=3600000"}, {"--engine-kill-ms", "3600000"}), unread());
  auto client = worker.Connect();
  ASSERT_NE(client, nullptr);
  auto stream = TranscribeOneSecond(*client);
  while (client->Ping().value_or(linkw::Pong{}).step_age_us < 10'000) {
  }
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) worker.Signal(signal);
  EXPECT_THAT(worker.Wait(), AnyOf(128 + SIGTERM, 128 + SIGINT, 128 + SIGHUP));
}

TEST_F(UnreadLogTest, AStuckEngineEndsTheProcess) {
  WorkerProcess worker(Sim({"stuck_at_step=1", "stuck_ms=3600000"},
                           {"--engine-stall-ms", "200", "--engine-kill-ms", "700"}),
                       unread());
  auto client = worker.Connect();
  ASSERT_NE(client, nullptr);
  auto stream = TranscribeOneSecond(*client);
  EXPECT_EQ(worker.Wait(), 128 + SIGABRT);
}

TEST_F(UnreadLogTest, AnEngineThatCrashesEndsTheProcess) {
  WorkerProcess worker(Sim({"crash_at_step=2"}), unread());
  auto client = worker.Connect();
  ASSERT_NE(client, nullptr);
  auto stream = TranscribeOneSecond(*client);
  EXPECT_THAT(worker.Wait(), AnyOf(128 + SIGSEGV, 128 + SIGABRT));
}

TEST(LogTest, WhatALibraryPrintsComesAsALineOfTheLog) {
  WorkerProcess worker({"--engine", "tests/integration/libsuperfluid_prints.so"});
  EXPECT_EQ(worker.Wait(), 3);
  EXPECT_THAT(worker.Log(),
              ContainsRegex("Z warn library\\.says text=\"a library's \\\\\"complaint\\\\\"\"\n"));
  EXPECT_THAT(worker.Log(), ContainsRegex("Z warn library\\.says text=\"a library's result\"\n"));
  EXPECT_THAT(worker.Log(),
              ContainsRegex("Z error engine\\.not_loaded [^\n]*this engine only prints"));
}

TEST(LogTest, StandardDescriptorsThatWereClosedAreNoneOfTheWorkersOwn) {
  WorkerProcess worker(Sim(), {.closed = true});
  ASSERT_NE(worker.Connect(), nullptr);
  const std::filesystem::path folder = "/proc/" + std::to_string(worker.pid()) + "/fd";
  EXPECT_EQ(std::filesystem::read_symlink(folder / "0"), "/dev/null");
  for (const char* fd : {"1", "2"}) {  // of what libraries print
    EXPECT_THAT(std::filesystem::read_symlink(folder / fd).string(), HasSubstr("pipe:"));
  }
  worker.Signal(SIGTERM);
  EXPECT_EQ(worker.Wait(), 0);
}

// The engine's frames, by whatever name the library has here.
constexpr char kEngineFrame[] =
    "error crash\\.frame n=[0-9]+ pc=0x[0-9a-f]+ module=\"[^\"]*libsuperfluid_sim\\.so\" "
    "offset=0x[0-9a-f]+";

TEST(LogTest, ACrashOfTheEngineIsReportedWithItsStackAndItsRequest) {
  WorkerProcess worker(Sim({"crash_at_step=2"}));
  auto client = worker.Connect();
  ASSERT_NE(client, nullptr);
  auto stream = TranscribeOneSecond(*client);
  EXPECT_EQ(worker.Wait(), 128 + SIGSEGV);
  EXPECT_THAT(worker.Log(),
              ContainsRegex("Z error crash\\.signal signal=\"SIGSEGV\" address=0x0 "
                            "thread=\"engine\" engine=\"[^\"]*libsuperfluid_sim\\.so\" "
                            "link=1 seq=[0-9]+ pid=[0-9]+\n"));
  EXPECT_THAT(worker.Log(), ContainsRegex(kEngineFrame));
  EXPECT_THAT(worker.Log(), ContainsRegex("crash\\.frame [^\n]*symbol=\"superfluid::SimJob::Step"));
  EXPECT_THAT(worker.Log(),
              ContainsRegex("crash\\.frame [^\n]*symbol=\"superfluid::EngineActorState"));
}

// What a model's file that is cut short in place ends with.
TEST(LogTest, ABusErrorIsReportedWithItsLikelyCause) {
  WorkerProcess worker(Sim());
  ASSERT_NE(worker.Connect(), nullptr);
  worker.Signal(SIGBUS);
  EXPECT_EQ(worker.Wait(), 128 + SIGBUS);
  EXPECT_THAT(worker.Log(), ContainsRegex("Z error crash\\.signal signal=\"SIGBUS\" [^\n]*"
                                          "reason=\"a file that is mapped into memory"));
}

// How an engine hangs: it sleeps, or it computes for ever.
class StuckReportTest : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(StuckReportTest, HasTheStackOfTheEngine) {
  WorkerProcess worker(Sim(GetParam(), {"--engine-stall-ms", "200", "--engine-kill-ms", "700"}));
  auto client = worker.Connect();
  ASSERT_NE(client, nullptr);
  auto stream = TranscribeOneSecond(*client);
  EXPECT_EQ(worker.Wait(), 128 + SIGABRT);
  EXPECT_THAT(worker.Log(), ContainsRegex("Z error engine\\.stuck step_age_ms=[0-9]+ "
                                          "engine=\"[^\"]+\" link=1 seq=[0-9]+ reason="));
  EXPECT_THAT(worker.Log(), ContainsRegex("crash\\.signal signal=\"SIGABRT\" thread=\"engine\""));
  EXPECT_THAT(worker.Log(), ContainsRegex(kEngineFrame));
  EXPECT_THAT(worker.Log(), Not(HasSubstr("library.says")));
}

INSTANTIATE_TEST_SUITE_P(
    Hangs, StuckReportTest,
    testing::Values(std::vector<std::string>{"stuck_at_step=2", "stuck_ms=3600000"},
                    std::vector<std::string>{"work=busy", "slow_at_step=2", "slow_us=3600000000"}));

TEST(LogTest, AFailedTranscriptionLeavesItsReasonAndItsFile) {
  WorkerProcess worker(Sim({"fail_at_step=2"}));
  auto client = worker.Connect();
  ASSERT_NE(client, nullptr);
  (void)TranscribeOneSecond(*client)->Finish(absl::Now() + absl::Seconds(60));
  linkw::Transcribe request;
  request.audio = linkw::AudioPath{worker.folder() + "/none.wav"};
  (void)(*client->Transcribe(request))->Finish(absl::Now() + absl::Seconds(60));
  worker.Signal(SIGTERM);
  EXPECT_EQ(worker.Wait(), 0);
  EXPECT_THAT(
      worker.Log(),
      ContainsRegex("Z warn transcription\\.done link=1 seq=[0-9]+ status=ENGINE_FAILED [^\n]*"
                    "audio=\"\\(live\\)\" reason=\"[^\n]*step 2 failed"));
  EXPECT_THAT(worker.Log(),
              ContainsRegex("Z info transcription\\.done [^\n]*status=NOT_FOUND [^\n]*"
                            "audio=\"[^\"]*/none\\.wav\" reason=\"there is no file"));
}

TEST(LogTest, AnEngineWhoseStepsAreLongerThanItSaysIsReportedOnce) {
  WorkerProcess worker(Sim());
  auto client = worker.Connect();
  ASSERT_NE(client, nullptr);
  linkw::Transcribe request = LiveRequest();
  request.prompt = "sim:step_us=30000";  // of the engine's own, which says 1 ms
  auto stream = PushOneSecond(*client->Transcribe(request));
  (void)stream->Finish(absl::Now() + absl::Seconds(60));
  worker.Signal(SIGTERM);
  EXPECT_EQ(worker.Wait(), 0);
  const std::string log = worker.Log();
  EXPECT_THAT(log, ContainsRegex("Z warn engine\\.slow_step took_ms=[0-9]+ said_ms=1 "
                                 "asked_whether_cancelled=yes reason="));
  EXPECT_EQ(log.find("engine.slow_step"), log.rfind("engine.slow_step"));
}

TEST(LogTest, AHealthCheckLeavesNoLineAtTheUsualLevel) {
  WorkerProcess worker(Sim());
  for (int i = 0; i < 3; ++i) {
    auto observer = worker.Connect(linkw::Role::kObserver);
    ASSERT_NE(observer, nullptr);
    EXPECT_TRUE(observer->Ping().ok());
  }
  worker.Signal(SIGTERM);
  EXPECT_EQ(worker.Wait(), 0);
  EXPECT_THAT(worker.Log(), Not(HasSubstr("link.")));
}

TEST(LogTest, ADrainThatHadToCancelSaysSoInTheLastLine) {
  WorkerProcess worker(Sim({"step_us=5000"}, {"--drain-ms", "100"}));
  auto client = worker.Connect();
  ASSERT_NE(client, nullptr);
  auto stream = *client->Transcribe(LiveRequest());  // its audio never ends
  ASSERT_TRUE(client->Ping().ok());
  worker.Signal(SIGTERM);
  EXPECT_EQ(worker.Wait(), 75);
  EXPECT_THAT(
      worker.Log(),
      ContainsRegex("worker\\.exit code=75 reason=\"told to stop; open requests: 0 finished, "
                    "1 cancelled\"\n$"));
}

}  // namespace
}  // namespace superfluid
