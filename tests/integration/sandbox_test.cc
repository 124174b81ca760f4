// What a confined worker may not do: an engine tries it, inside the worker.

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "protocol/messages/status.h"
#include "tests/integration/worker_process.h"

namespace superfluid {
namespace {

constexpr char kEngine[] = "tests/integration/libsuperfluid_escaping.so";

class WorkerSandboxTest : public testing::Test {
 protected:
  WorkerSandboxTest() { std::ofstream(folder_ + "/there") << "text"; }
  ~WorkerSandboxTest() override { std::filesystem::remove_all(folder_); }

  // Returns what came of each attempt of the engine in a worker with this profile.
  std::map<std::string, std::string> Attempts(const std::string& profile) {
    WorkerProcess worker(
        {"--engine", kEngine, "--engine-option", "folder=" + folder_, "--sandbox", profile});
    std::map<std::string, std::string> came;
    auto client = worker.Connect();
    if (client == nullptr) return came;
    linkw::Transcribe request;
    request.audio = linkw::AudioLive{
        {.sample_rate_hz = 16000, .channels = 1, .sample_format = linkw::SampleFormat::kS16}};
    auto stream = client->Transcribe(request);
    if (!stream.ok() || !(*stream)->PushAudio(std::string(3200, '\1'), true).ok()) return came;
    const auto answer = (*stream)->Finish(absl::Now() + absl::Seconds(30));
    if (!answer.ok()) return came;
    for (const linkw::TranscriptSegment& segment :
         std::get<linkw::TranscribeResult>(answer->reply).segments) {
      const std::vector<std::string> words = absl::StrSplit(segment.text, ' ');
      if (words.size() == 2) came[words[0]] = words[1];
    }
    worker.Signal(SIGTERM);
    EXPECT_EQ(worker.Wait(), 0);
    return came;
  }

 private:
  static std::string MakeFolder() {
    std::string name = "/tmp/superfluid-sandbox-XXXXXX";
    return mkdtemp(name.data());
  }
  const std::string folder_ = MakeFolder();
};

using Came = std::map<std::string, std::string>;

TEST_F(WorkerSandboxTest, AnEngineOnTheCpuCanComputeAndReadAndNothingElse) {
  EXPECT_EQ(Attempts("cpu"), (Came{{"execve", "EPERM"},
                                   {"fork", "EPERM"},
                                   {"socket_inet", "EPERM"},
                                   {"socket_unix", "EPERM"},
                                   {"ptrace", "EPERM"},
                                   {"kill", "EPERM"},
                                   {"open_to_make", "EPERM"},
                                   {"open_to_write", "EPERM"},
                                   {"open_to_read", "ok"},
                                   {"rename", "EPERM"},
                                   {"unlink", "EPERM"},
                                   {"executable_memory", "EPERM"},
                                   {"setrlimit", "EPERM"},
                                   {"thread", "ok"}}));
}

TEST_F(WorkerSandboxTest, ADriverMayWriteToDevicesAndMakeCode) {
  EXPECT_EQ(Attempts("device"), (Came{{"execve", "EPERM"},
                                      {"fork", "EPERM"},
                                      {"socket_inet", "EPERM"},
                                      {"socket_unix", "EPERM"},
                                      {"ptrace", "EPERM"},
                                      {"kill", "EPERM"},
                                      {"open_to_make", "EPERM"},
                                      {"open_to_write", "ok"},
                                      {"open_to_read", "ok"},
                                      {"rename", "EPERM"},
                                      {"unlink", "EPERM"},
                                      {"executable_memory", "ok"},
                                      {"setrlimit", "EPERM"},
                                      {"thread", "ok"}}));
}

// That the attempts are attempts.
TEST_F(WorkerSandboxTest, WithoutASandboxTheKernelIsAsked) {
  const Came came = Attempts("off");
  EXPECT_EQ(came, (Came{{"execve", "EACCES"},
                        {"fork", "ok"},
                        {"socket_inet", "ok"},
                        {"socket_unix", "ok"},
                        {"ptrace", "ESRCH"},
                        {"kill", "ok"},
                        {"open_to_make", "ok"},
                        {"open_to_write", "ok"},
                        {"open_to_read", "ok"},
                        {"rename", "ok"},
                        {"unlink", "ENOENT"},
                        {"executable_memory", "ok"},
                        {"setrlimit", "ok"},
                        {"thread", "ok"}}));
}

TEST_F(WorkerSandboxTest, ARestartTakesTheSocketOver) {
  const std::string socket = "/tmp/superfluid-sandbox-" + std::to_string(getpid()) + ".sock";
  for (int turn = 0; turn < 2; ++turn) {
    WorkerProcess worker({"--listen", socket, "--engine", "sim", "--sandbox", "cpu"});
    linkw::LinkClientOptions options;
    options.connect_timeout = absl::Seconds(60);
    options.wait_for_listener = true;
    auto client = linkw::LinkClient::Connect(socket, options);
    ASSERT_TRUE(client.ok()) << client.status() << worker.Log();
    EXPECT_TRUE((*client)->Ping().ok());
    worker.Signal(SIGTERM);
    EXPECT_EQ(worker.Wait(), 0);
  }
  EXPECT_TRUE(std::filesystem::exists(socket));  // nothing may be removed
  std::filesystem::remove(socket);
}

}  // namespace
}  // namespace superfluid
