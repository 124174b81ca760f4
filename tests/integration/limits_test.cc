// The real worker at the limits of a machine: threads come back, and a lack of them hurts newcomers
// only.

#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "protocol/client/link_client.h"
#include "protocol/messages/messages.h"
#include "protocol/messages/status.h"
#include "tests/integration/worker_process.h"

namespace superfluid {
namespace {

using linkw::Status;

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint32_t kHourMs = 3'600'000;

linkw::Transcribe LiveRequest(uint32_t deadline_ms = 0) {
  linkw::Transcribe transcribe;
  transcribe.audio = linkw::AudioLive{
      {.sample_rate_hz = 16000, .channels = 1, .sample_format = linkw::SampleFormat::kS16}};
  transcribe.stream = true;
  transcribe.deadline_ms = deadline_ms;
  return transcribe;
}

std::string OneSecond() { return std::string(32000, '\1'); }

int ThreadsOf(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  std::string word;
  while (status >> word) {
    int threads = 0;
    if (word == "Threads:" && status >> threads) return threads;
  }
  return -1;
}

void FinishOneTranscription(linkw::LinkClient& client, uint32_t deadline_ms) {
  auto stream = client.Transcribe(LiveRequest(deadline_ms));
  ASSERT_TRUE(stream.ok()) << stream.status();
  ASSERT_TRUE((*stream)->PushAudio(OneSecond(), true).ok());
  const auto answer = (*stream)->Finish(absl::Now() + absl::Seconds(60));
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->status, Status::kOk);
}

TEST(LimitsTest, FarDeadlinesOfLinksThatHaveEndedKeepNoThreads) {
  WorkerProcess worker({"--engine", "sim"});
  int before = 0;
  for (int i = 0; i < 25; ++i) {
    auto client = worker.Connect();
    ASSERT_NE(client, nullptr);
    FinishOneTranscription(*client, kHourMs);
    if (i == 0) before = ThreadsOf(worker.pid());
  }
  auto last = worker.Connect();
  ASSERT_NE(last, nullptr);
  // The threads of the link before it may be about to end.
  const absl::Time give_up = absl::Now() + absl::Seconds(30);
  while (ThreadsOf(worker.pid()) > before && absl::Now() < give_up) {
    ASSERT_TRUE(last->Ping().ok());
  }
  EXPECT_LE(ThreadsOf(worker.pid()), before);
}

// A limit of this process, which children inherit, while it lives.
class ScopedLimit {
 public:
  ScopedLimit(int resource, rlim_t value) : resource_(resource) {
    EXPECT_EQ(getrlimit(resource_, &before_), 0);
    const rlimit limit{.rlim_cur = value, .rlim_max = before_.rlim_max};
    EXPECT_EQ(setrlimit(resource_, &limit), 0);
  }
  ~ScopedLimit() { setrlimit(resource_, &before_); }
  ScopedLimit(const ScopedLimit&) = delete;
  ScopedLimit& operator=(const ScopedLimit&) = delete;

 private:
  const int resource_;
  rlimit before_{};
};

// The soft limit that shells and systemd give is less than the buffers of one driver take.
TEST(LimitsTest, TheWorkerMayHaveAsManyDescriptorsAsTheHardLimitSays) {
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const ScopedLimit few(RLIMIT_NOFILE, 64);
  WorkerProcess worker({"--engine", "sim"});
  ASSERT_NE(worker.Connect(), nullptr);
  rlimit raised{};
  ASSERT_EQ(prlimit(worker.pid(), RLIMIT_NOFILE, nullptr, &raised), 0);
  EXPECT_EQ(raised.rlim_cur, limit.rlim_max);
}

// AddressSanitizer itself reserves more than any limit on the address space.
#ifndef __SANITIZE_ADDRESS__

// A worker whose threads have stacks of 256 MiB, so that a limit on the address space is a limit on
// threads (those on processes do not hold for root).
std::unique_ptr<WorkerProcess> StartWithin(uint64_t address_space) {
  const ScopedLimit stack(RLIMIT_STACK, 256 * kMiB);
  const ScopedLimit space(RLIMIT_AS, address_space);
  return std::make_unique<WorkerProcess>(std::vector<std::string>{"--engine", "sim"});
}

// A link costs no thread, so a lack of them concerns none.
TEST(LimitsTest, AtALimitOfThreadsLinksAreServedAllTheSame) {
  const std::unique_ptr<WorkerProcess> worker = StartWithin(8192 * kMiB);
  auto driver = worker->Connect();
  ASSERT_NE(driver, nullptr);
  std::vector<std::unique_ptr<linkw::LinkClient>> observers;
  for (int i = 0; i < 60; ++i) {
    observers.push_back(worker->Connect(linkw::Role::kObserver));
    ASSERT_NE(observers.back(), nullptr) << worker->Log();
  }
  FinishOneTranscription(*driver, 0);
  for (const auto& observer : observers) EXPECT_TRUE(observer->Ping().ok());
  worker->Signal(SIGTERM);
  EXPECT_EQ(worker->Wait(), 0);
}

TEST(LimitsTest, AWorkerThatMayNotHaveItsThreadsSaysSoAtTheStart) {
  const std::unique_ptr<WorkerProcess> worker = StartWithin(1024 * kMiB);
  EXPECT_EQ(worker->Wait(), 1);
  EXPECT_NE(worker->Log().find("worker.cannot_start"), std::string::npos) << worker->Log();
  EXPECT_NE(worker->Log().find("threads and may not have them"), std::string::npos)
      << worker->Log();
}

#endif  // __SANITIZE_ADDRESS__

}  // namespace
}  // namespace superfluid
