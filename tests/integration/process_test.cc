// The worker as a process: signals, exit codes, sockets, the life of its links.

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "protocol/messages/status.h"
#include "tests/integration/worker_process.h"

namespace superfluid {
namespace {

using linkw::Status;

std::vector<std::string> Sim(std::vector<std::string> options = {}) {
  std::vector<std::string> arguments = {"--engine", "sim"};
  for (std::string& option : options) {
    arguments.emplace_back("--engine-option");
    arguments.push_back(std::move(option));
  }
  return arguments;
}

linkw::Transcribe LiveRequest() {
  linkw::Transcribe request;
  request.audio = linkw::AudioLive{
      {.sample_rate_hz = 16000, .channels = 1, .sample_format = linkw::SampleFormat::kS16}};
  request.stream = true;
  return request;
}

// A second of something that is not silence.
std::string OneSecond() {
  std::string pcm(32000, '\0');
  for (size_t i = 0; i < pcm.size(); ++i) pcm[i] = static_cast<char>(i * 31 % 97);
  return pcm;
}

TEST(ProcessTest, TheSocketIsPrivateAndGoneAfterSigterm) {
  WorkerProcess worker(Sim());
  auto client = worker.Connect();
  ASSERT_NE(client, nullptr);
  struct stat info {};
  ASSERT_EQ(stat(worker.socket().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  worker.Signal(SIGTERM);
  EXPECT_EQ(worker.Wait(), 0);
  EXPECT_FALSE(std::filesystem::exists(worker.socket()));
  EXPECT_FALSE(client->Ping().ok());
  EXPECT_NE(client->link_status().message().find("shutting down"), std::string::npos)
      << client->link_status();
}

TEST(ProcessTest, SigtermLetsOpenWorkFinish) {
  WorkerProcess worker(Sim({"segment_ms=100", "steps_per_segment=10", "step_us=5000"}));
  auto client = worker.Connect();
  ASSERT_NE(client, nullptr);
  auto stream = *client->Transcribe(LiveRequest());
  ASSERT_TRUE(stream->PushAudio(OneSecond(), true).ok());
  ASSERT_TRUE(stream->Next(absl::Now() + absl::Seconds(30)).ok());  // it runs
  worker.Signal(SIGTERM);
  const auto answer = stream->Finish(absl::Now() + absl::Seconds(30));
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->status, Status::kOk);
  EXPECT_EQ(std::get<linkw::TranscribeResult>(answer->reply).segments.size(), 10u);
  EXPECT_EQ(worker.Wait(), 0);
}

TEST(ProcessTest, SighupDrainsAsSigtermDoes) {
  WorkerProcess worker(Sim());
  auto client = worker.Connect();
  ASSERT_NE(client, nullptr);
  auto stream = *client->Transcribe(LiveRequest());
  ASSERT_TRUE(client->Ping().ok());
  worker.Signal(SIGHUP);
  ASSERT_TRUE(stream->PushAudio(OneSecond(), true).ok());
  const auto answer = stream->Finish(absl::Now() + absl::Seconds(30));
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->status, Status::kOk);
  EXPECT_EQ(worker.Wait(), 0);
  EXPECT_FALSE(std::filesystem::exists(worker.socket()));
}

TEST(ProcessTest, SigintCancelsOpenWork) {
  WorkerProcess worker(Sim({"step_us=5000"}));
  auto client = worker.Connect();
  ASSERT_NE(client, nullptr);
  auto stream = *client->Transcribe(LiveRequest());  // its audio never ends
  ASSERT_TRUE(client->Ping().ok());
  worker.Signal(SIGINT);
  const auto answer = stream->Finish(absl::Now() + absl::Seconds(30));
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->status, Status::kCancelled);
  EXPECT_EQ(worker.Wait(), 0);
}

class LoadingSignalTest : public testing::TestWithParam<int> {};

TEST_P(LoadingSignalTest, EndsTheProcessAtOnce) {
  const std::string path = absl::StrCat(testing::TempDir(), "/loading-", getpid(), "-", GetParam());
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const int fifo = open(path.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(fifo, 0);
  WorkerProcess worker({"--engine", "tests/integration/libsuperfluid_never_loads.so",
                        "--engine-option", "fifo=" + path});
  pollfd in_create = {.fd = fifo, .events = POLLIN, .revents = 0};
  ASSERT_EQ(poll(&in_create, 1, 60'000), 1) << worker.Log();
  EXPECT_TRUE(std::filesystem::exists(worker.socket()));
  worker.Signal(GetParam());
  EXPECT_EQ(worker.Wait(), 0);
  EXPECT_FALSE(std::filesystem::exists(worker.socket()));
  EXPECT_NE(worker.Log().find("action=exit"), std::string::npos);
  EXPECT_NE(worker.Log().find("worker.exit code=0"), std::string::npos);
  close(fifo);
  std::filesystem::remove(path);
}

INSTANTIATE_TEST_SUITE_P(Signals, LoadingSignalTest, testing::Values(SIGTERM, SIGINT, SIGHUP));

TEST(ProcessTest, APingIsAnsweredWhileTheEngineIsInsideAStep) {
  WorkerProcess worker(Sim({"segment_ms=1000", "steps_per_segment=1", "step_us=3000000"}));
  auto client = worker.Connect();
  ASSERT_NE(client, nullptr);
  auto stream = *client->Transcribe(LiveRequest());
  ASSERT_TRUE(stream->PushAudio(OneSecond(), true).ok());
  // Wait until the three-second step is well under way: starting the job counts as a step, a short
  // one.
  linkw::Pong pong;
  while (pong.step_age_us < 100'000) {
    const absl::StatusOr<linkw::Pong> answer = client->Ping();
    ASSERT_TRUE(answer.ok()) << answer.status();
    pong = *answer;
  }
  const absl::StatusOr<linkw::Pong> again = client->Ping();
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->engine_steps, pong.engine_steps) << "the step ended before the second answer";
  EXPECT_GE(again->step_age_us, pong.step_age_us);
  EXPECT_EQ(again->engine_state, linkw::EngineState::kBusy);
}

TEST(ProcessTest, AStuckEngineEndsTheProcessWithAReport) {
  std::vector<std::string> arguments = Sim({"stuck_at_step=2", "stuck_ms=60000"});
  arguments.insert(arguments.end(), {"--engine-stall-ms", "200", "--engine-kill-ms", "700"});
  WorkerProcess worker(arguments);
  auto client = worker.Connect();
  ASSERT_NE(client, nullptr);
  auto stream = *client->Transcribe(LiveRequest());
  ASSERT_TRUE(stream->PushAudio(OneSecond(), true).ok());
  bool stalled = false;
  while (true) {
    const absl::StatusOr<linkw::Pong> pong = client->Ping();
    if (!pong.ok()) break;
    stalled = stalled || pong->engine_state == linkw::EngineState::kStalled;
  }
  EXPECT_TRUE(stalled) << "the stall was reported before the end";
  EXPECT_EQ(worker.Wait(), 128 + SIGABRT);
  EXPECT_NE(worker.Log().find("error engine.stuck step_age_ms="), std::string::npos);
  EXPECT_NE(worker.Log().find("engine.stalled"), std::string::npos);
}

TEST(ProcessTest, AModelThatIsWrittenOverGetsAWordInTheLog) {
  const std::string model = absl::StrCat(testing::TempDir(), "/model_", getpid());
  std::ofstream(model) << "weights";
  std::vector<std::string> arguments = Sim();
  arguments.insert(arguments.end(), {"--model", model});
  WorkerProcess worker(arguments);
  auto client = worker.Connect();
  ASSERT_NE(client, nullptr);
  EXPECT_EQ(worker.Log().find("model.changed"), std::string::npos);
  std::ofstream(model) << "other weights";
  const absl::Time limit = absl::Now() + absl::Minutes(1);
  while (worker.Log().find("model.changed") == std::string::npos && absl::Now() < limit) {
    ASSERT_TRUE(client->Ping().ok());
  }
  EXPECT_NE(worker.Log().find("model.changed file=\"" + model), std::string::npos);
  std::filesystem::remove(model);
}

// SIGSTOP, a debugger, a frozen container: the watchdog was stopped, too, and proves nothing.
TEST(ProcessTest, APauseOfTheProcessIsNoStall) {
  std::vector<std::string> arguments = Sim({"slow_at_step=2", "slow_us=1000000"});
  arguments.insert(arguments.end(), {"--engine-stall-ms", "2900", "--engine-kill-ms", "3000"});
  WorkerProcess worker(arguments);
  auto client = worker.Connect();
  ASSERT_NE(client, nullptr);
  auto stream = *client->Transcribe(LiveRequest());
  ASSERT_TRUE(stream->PushAudio(OneSecond(), true).ok());
  linkw::Pong pong;
  while (pong.step_age_us < 100'000) {  // the slow step is under way, and most of it is left
    const absl::StatusOr<linkw::Pong> answer = client->Ping();
    ASSERT_TRUE(answer.ok()) << answer.status();
    pong = *answer;
  }
  worker.Signal(SIGSTOP);
  // Longer than the worker waits for a stuck engine.
  EXPECT_FALSE(stream->Next(absl::Now() + absl::Milliseconds(3500)).ok()) << "it is stopped";
  worker.Signal(SIGCONT);
  const absl::StatusOr<linkw::Pong> after = client->Ping();
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_NE(after->engine_state, linkw::EngineState::kStalled);
  const auto answer = stream->Finish(absl::Now() + absl::Seconds(60));
  ASSERT_TRUE(answer.ok()) << answer.status() << worker.Log();
  EXPECT_EQ(answer->status, Status::kOk);
  EXPECT_EQ(worker.Log().find("engine.stalled"), std::string::npos) << worker.Log();
}

TEST(ProcessTest, CommandLinesThatAreWrongSayHow) {
  const auto exit_of = [](std::vector<std::string> arguments) {
    WorkerProcess worker(std::move(arguments));
    const int code = worker.Wait();
    return std::pair(code, worker.Log());
  };
  EXPECT_EQ(exit_of({"--no-such-option"}).first, 2);
  EXPECT_EQ(exit_of({"--engine-option", "novalue"}).first, 2);
  const auto engine = exit_of({"--engine", "nosuch"});
  EXPECT_EQ(engine.first, 3);
  EXPECT_NE(engine.second.find("pocketsphinx"), std::string::npos) << engine.second;
  EXPECT_EQ(exit_of({"--engine", "pocketsphinx", "--model", "/nonexistent"}).first, 3);
  EXPECT_EQ(exit_of(Sim({"no_such_option=1"})).first, 3);
  EXPECT_EQ(exit_of({"--engine", "sim", "--media-root", "/nonexistent"}).first, 1);
  EXPECT_EQ(exit_of({"--engine", "sim", "--model-root", "/nonexistent"}).first, 1);
}

TEST(ProcessTest, WhyItCannotStartIsSaidOnceAndShort) {
  WorkerProcess worker({"--engine", "pocketsphinx", "--model", "/usr/share/pocketsphinx"});
  EXPECT_EQ(worker.Wait(), 3);
  const std::string log = worker.Log();
  const size_t reason = log.find("holds no acoustic model");
  ASSERT_NE(reason, std::string::npos) << log;
  EXPECT_EQ(log.find("holds no acoustic model", reason + 1), std::string::npos) << log;
  const size_t line = log.rfind('\n', reason) + 1;
  EXPECT_LT(log.find('\n', reason) - line, 250u) << log;
  EXPECT_NE(log.find("Z error engine.not_loaded"), std::string::npos) << log;
}

TEST(ProcessTest, WithoutALogTheReasonIsStillSaid) {
  WorkerProcess worker({"--engine", "nosuch", "--log-level", "off"});
  EXPECT_EQ(worker.Wait(), 3);
  EXPECT_EQ(worker.Log().rfind("superfluid_worker: no engine named 'nosuch'", 0), 0u)
      << worker.Log();
}

TEST(ProcessTest, ADeviceThatTheEngineDoesNotUseIsNoted) {
  WorkerProcess worker({"--engine", "pocketsphinx", "--device", "7"});
  ASSERT_NE(worker.Connect(), nullptr);
  EXPECT_NE(worker.Log().find("Z warn engine.device_ignored device=7"), std::string::npos)
      << worker.Log();
}

TEST(ProcessTest, MoreThreadsThanCoresAreNoted) {
  std::vector<std::string> arguments = Sim();
  arguments.insert(arguments.end(), {"--threads", "4096"});
  WorkerProcess worker(arguments);
  ASSERT_NE(worker.Connect(), nullptr);
  EXPECT_NE(worker.Log().find("Z warn engine.many_threads threads=4096 cores="), std::string::npos)
      << worker.Log();
  WorkerProcess usual(Sim());
  ASSERT_NE(usual.Connect(), nullptr);
  EXPECT_EQ(usual.Log().find("engine.many_threads"), std::string::npos) << usual.Log();
}

TEST(ProcessTest, ASecondWorkerOnTheSamePathIsRefusedAndAStaleSocketIsNot) {
  WorkerProcess first(Sim());
  ASSERT_NE(first.Connect(), nullptr);
  WorkerProcess second({"--engine", "sim", "--listen", first.socket()});
  EXPECT_NE(second.Wait(), 0);
  ASSERT_NE(first.Connect(), nullptr) << "the first must still be there";
}

TEST(ProcessTest, ObserversComeBesideADriverAndASecondDriverDoesNot) {
  WorkerProcess worker(Sim());
  auto driver = worker.Connect();
  ASSERT_NE(driver, nullptr);
  auto observer = worker.Connect(linkw::Role::kObserver);
  ASSERT_NE(observer, nullptr);
  EXPECT_TRUE(observer->Ping().ok());
  const auto second = linkw::LinkClient::Connect(worker.socket(), {});
  EXPECT_EQ(linkw::FromAbsl(second.status()), Status::kBusy) << second.status();
  EXPECT_NE(second.status().message().find("another link drives"), std::string::npos)
      << second.status();
  EXPECT_TRUE(driver->Ping().ok());
}

TEST(ProcessTest, DescriptorsOfTheProcessStayFlatOverManyLinks) {
  WorkerProcess worker(Sim({"segment_ms=100"}));
  const auto count = [&worker] {
    size_t descriptors = 0;
    for ([[maybe_unused]] const auto& entry :
         std::filesystem::directory_iterator("/proc/" + std::to_string(worker.pid()) + "/fd")) {
      ++descriptors;
    }
    return descriptors;
  };
  ASSERT_NE(worker.Connect(), nullptr);
  size_t before = 0;
  for (int i = 0; i < 60; ++i) {
    auto client = worker.Connect();
    ASSERT_NE(client, nullptr);
    auto stream = *client->Transcribe(LiveRequest());
    ASSERT_TRUE(stream->PushAudio(OneSecond(), i % 2 == 0).ok());
    ASSERT_TRUE(stream->Next(absl::Now() + absl::Seconds(30)).ok());
    if (i == 10) before = count();
  }
  // A new link is only granted after the old one has ended, so the counts are comparable.
  ASSERT_NE(worker.Connect(), nullptr);
  EXPECT_LE(count(), before + 4);
}

}  // namespace
}  // namespace superfluid
