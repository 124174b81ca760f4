// The life of a decoder process: it dies with its request, waits for its reader, and holds nothing
// up.

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/tools/decode/decode_fixture.h"
#include "tools/decode/decoder_pool.h"

namespace superfluid::decode {
namespace {

using testing::HasSubstr;

// Ten minutes of sound in 0.9 MB.
std::string LongRecording() { return AmrBytes(30'000); }

// Waits for the end of whoever has the other end of a pipe.
void WaitForEnd(int fd) {
  std::array<char, 4096> block;
  while (read(fd, block.data(), block.size()) > 0) {
  }
}

class ProcessTest : public DecodeFixture {};

TEST_F(ProcessTest, WaitsForASlowReader) {
  const std::unique_ptr<DecodeProcess> process = Start();
  ASSERT_TRUE(process->Begin(MemfdOf(LongRecording()).get()).ok());
  // It is blocked once the pipe is full; nothing more comes until something is read.
  std::array<char, 4> first;
  ASSERT_EQ(read(process->pcm_fd(), first.data(), first.size()), 4);
  EXPECT_EQ(waitpid(process->pid(), nullptr, WNOHANG), 0);
  EXPECT_EQ(ReadSamples(process->pcm_fd()).size() + 1, 30'000u * 320);
  EXPECT_TRUE(process->Finish().ok());
}

TEST_F(ProcessTest, StopsWhenItIsKilled) {
  const std::unique_ptr<DecodeProcess> process = Start();
  ASSERT_TRUE(process->Begin(MemfdOf(LongRecording()).get()).ok());
  process->Kill();
  WaitForEnd(process->pcm_fd());
  EXPECT_TRUE(absl::IsCancelled(process->Finish().status()));
  process->Kill();  // its number may be another process's by now
}

TEST_F(ProcessTest, SaysThatSomebodyElseKilledIt) {
  const std::unique_ptr<DecodeProcess> process = Start();
  ASSERT_TRUE(process->Begin(MemfdOf(LongRecording()).get()).ok());
  ASSERT_EQ(kill(process->pid(), SIGKILL), 0);
  WaitForEnd(process->pcm_fd());
  EXPECT_TRUE(absl::IsUnavailable(process->Finish().status()));
}

TEST_F(ProcessTest, SaysThatItCrashed) {
  const std::unique_ptr<DecodeProcess> process = Start();
  ASSERT_TRUE(process->Begin(MemfdOf(LongRecording()).get()).ok());
  ASSERT_EQ(kill(process->pid(), SIGSEGV), 0);
  WaitForEnd(process->pcm_fd());
  const absl::Status status = process->Finish().status();
  EXPECT_TRUE(absl::IsInternal(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("crashed (signal 11)"));
}

TEST_F(ProcessTest, DiesWithItsObject) {
  std::unique_ptr<DecodeProcess> process = Start();
  ASSERT_TRUE(process->Begin(MemfdOf(LongRecording()).get()).ok());
  const OwnedFd pcm = process->TakePcmFd();
  process.reset();
  WaitForEnd(pcm.get());
}

// A client that is killed runs no destructor. Its decoder ends even while it waits for a recording,
// and while it is blocked in a write.
TEST_F(ProcessTest, DiesWithItsClient) {
  std::array<int, 2> ends = {};
  ASSERT_EQ(pipe(ends.data()), 0);
  const OwnedFd reading(ends[0]);
  OwnedFd writing(ends[1]);
  const OwnedFd recording = MemfdOf(LongRecording());
  const pid_t client = fork();
  if (client == 0) {
    std::unique_ptr<DecodeProcess> waiting = Start();
    std::unique_ptr<DecodeProcess> blocked = Start();
    blocked->Begin(recording.get()).IgnoreError();
    pollfd readable = {.fd = blocked->pcm_fd(), .events = POLLIN, .revents = 0};
    poll(&readable, 1, -1);
    const std::array pids = {waiting->pid(), blocked->pid()};
    [[maybe_unused]] const ssize_t written = write(writing.get(), pids.data(), sizeof(pids));
    raise(SIGKILL);
  }
  std::array<pid_t, 2> pids = {};
  ASSERT_EQ(read(reading.get(), pids.data(), sizeof(pids)), static_cast<ssize_t>(sizeof(pids)));
  int status = 0;
  ASSERT_EQ(waitpid(client, &status, 0), client);
  for (const pid_t pid : pids) {
    // It has become somebody else's child; its end shows in /proc.
    const std::string stat_path = "/proc/" + std::to_string(pid) + "/stat";
    while (true) {
      const std::string stat = ReadFile(stat_path);
      if (stat.empty() || stat.find(") Z ") != std::string::npos) break;
      poll(nullptr, 0, 10);
    }
  }
}

TEST_F(ProcessTest, CannotBeStartedFromNothing) {
  EXPECT_TRUE(absl::IsNotFound(DecodeProcess::Start("/nonexistent/superfluid_decode").status()));
}

TEST_F(ProcessTest, HasNoSecretOfItsClientsEnvironment) {
  setenv("SUPERFLUID_TEST_SECRET", "xyzzy", 1);
  const std::unique_ptr<DecodeProcess> process = Start();
  std::string environment;  // empty until the program has been loaded
  while (environment.empty()) {
    environment = ReadFile("/proc/" + std::to_string(process->pid()) + "/environ");
  }
  EXPECT_THAT(environment, HasSubstr("LC_ALL=C"));
  EXPECT_THAT(environment, testing::Not(HasSubstr("xyzzy")));
}

class PoolTest : public DecodeFixture {
 protected:
  static void ExpectDecodes(DecoderPool& pool) {
    auto process = pool.Begin(MemfdOf(AmrBytes(50)).get(), {});
    ASSERT_TRUE(process.ok()) << process.status();
    EXPECT_EQ(ReadSamples((*process)->pcm_fd()).size(), 16000u);
    EXPECT_TRUE((*process)->Finish().ok());
  }
};

TEST_F(PoolTest, GivesEachRecordingAProcessOfItsOwn) {
  DecoderPool pool(*FindDecoder(), 1);
  ExpectDecodes(pool);
  ExpectDecodes(pool);
  ExpectDecodes(pool);
}

TEST_F(PoolTest, NeedsNoSpares) {
  DecoderPool pool(*FindDecoder(), 0);
  ExpectDecodes(pool);
}

}  // namespace
}  // namespace superfluid::decode
