// What is particular to sockets; the common contract is in byte_stream_test.cc.
#include "protocol/transport/socket_stream.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigaction is POSIX
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "tests/shm/fd_test_util.h"

namespace superfluid {
namespace {

using ::superfluid::testing::AwaitBlocked;
using ::superfluid::testing::HasCloseOnExec;
using ::superfluid::testing::MakeMemfd;
using ::superfluid::testing::MakeSocketPair;
using ::superfluid::testing::ThisThread;

class SocketStreamTest : public ::testing::Test {
 protected:
  SocketStreamTest() {
    auto [ours, theirs] = MakeSocketPair();
    // NOLINTNEXTLINE(cppcoreguidelines-prefer-member-initializer): needs what is above
    fd_ = ours.get();
    stream_ = *MakeSocketStream(std::move(ours));
    // NOLINTNEXTLINE(cppcoreguidelines-prefer-member-initializer): needs what is above
    peer_ = std::move(theirs);
  }

  int fd_ = -1;  // the stream's own
  std::unique_ptr<ByteStream> stream_;
  OwnedFd peer_;  // a plain blocking socket
};

TEST_F(SocketStreamTest, MakesTheSocketNonBlockingAndCloseOnExec) {
  const int plain = dup(peer_.get());
  ASSERT_FALSE(HasCloseOnExec(plain));
  const absl::StatusOr<std::unique_ptr<ByteStream>> stream = MakeSocketStream(OwnedFd(plain));
  ASSERT_TRUE(stream.ok());
  EXPECT_TRUE(HasCloseOnExec(plain));
  EXPECT_NE(fcntl(plain, F_GETFL) & O_NONBLOCK, 0);
}

TEST_F(SocketStreamTest, RefusesWhatIsNotAConnectedStreamSocket) {
  const auto code = [](OwnedFd fd) { return MakeSocketStream(std::move(fd)).status().code(); };
  EXPECT_EQ(code(MakeMemfd(1, 0)), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code(OwnedFd(socket(AF_UNIX, SOCK_DGRAM, 0))), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code(OwnedFd(socket(AF_UNIX, SOCK_STREAM, 0))), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code(OwnedFd()), absl::StatusCode::kInvalidArgument);
}

TEST_F(SocketStreamTest, TellsThePeersUser) {
  ASSERT_TRUE(stream_->peer_uid().has_value());
  EXPECT_EQ(*stream_->peer_uid(), geteuid());
}

TEST_F(SocketStreamTest, PeerThatVanishesRaisesNoSignal) {
  // SIGPIPE's default would end this process.
  signal(SIGPIPE, SIG_DFL);
  peer_.Reset();
  const std::string_view piece = "x";
  EXPECT_EQ(stream_->Write({&piece, 1})->state, IoState::kClosed);
}

TEST_F(SocketStreamTest, HalfClosedPeerCanStillBeWrittenTo) {
  ASSERT_EQ(send(peer_.get(), "q", 1, 0), 1);
  shutdown(peer_.get(), SHUT_WR);
  char buffer[4];
  EXPECT_EQ(stream_->Read(absl::MakeSpan(buffer))->bytes, 1u);
  EXPECT_EQ(stream_->Read(absl::MakeSpan(buffer))->state, IoState::kClosed);
  const std::string_view answer = "answer";
  EXPECT_EQ(stream_->Write({&answer, 1})->bytes, 6u);
  EXPECT_EQ(recv(peer_.get(), buffer, sizeof(buffer), 0), 4);
}

TEST_F(SocketStreamTest, PeerThatReadsNoMoreIsClosedForWriting) {
  shutdown(peer_.get(), SHUT_RD);
  const std::string_view piece = "x";
  EXPECT_EQ(stream_->Write({&piece, 1})->state, IoState::kClosed);
}

TEST_F(SocketStreamTest, WritesInPartsThroughATinyBufferToASlowReader) {
  const int bytes = 1;  // the kernel makes it the least that it allows
  ASSERT_EQ(setsockopt(fd_, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes)), 0);
  const std::string head(32, 'h');
  const std::string body(100000, 'b');
  std::string received;
  size_t written = 0;
  int partial = 0;
  while (written < head.size() + body.size()) {
    const std::string_view pieces[] = {
        std::string_view(head).substr(std::min(written, head.size())),
        std::string_view(body).substr(std::max(written, head.size()) - head.size())};
    const absl::StatusOr<IoResult> result = stream_->Write(pieces);
    ASSERT_TRUE(result.ok()) << result.status();
    written += result->bytes;
    if (result->state == IoState::kOk) {
      ++partial;
      continue;
    }
    ASSERT_EQ(result->state, IoState::kWouldBlock);
    char byte_buffer[100];
    const ssize_t got = recv(peer_.get(), byte_buffer, sizeof(byte_buffer), 0);
    ASSERT_GT(got, 0);
    received.append(byte_buffer, static_cast<size_t>(got));
  }
  EXPECT_GT(partial, 1);
  while (received.size() < written) {
    char buffer[4096];
    const ssize_t got = recv(peer_.get(), buffer, sizeof(buffer), 0);
    ASSERT_GT(got, 0);
    received.append(buffer, static_cast<size_t>(got));
  }
  EXPECT_EQ(received, head + body);
}

TEST_F(SocketStreamTest, PatienceOfAWriterEnds) {
  const std::string block(100000, 'x');
  const std::string_view piece = block;
  while (stream_->Write({&piece, 1})->state == IoState::kOk) {
  }
  for (const absl::Duration patience : {absl::ZeroDuration(), absl::Milliseconds(5)}) {
    const absl::Time start = absl::Now();
    bool called = false;
    stream_->WhenWritable([&called] { called = true; }, patience);
    EXPECT_TRUE(called);
    EXPECT_GE(absl::Now() - start + absl::Milliseconds(1), patience);
    EXPECT_EQ(stream_->Write({&piece, 1})->state, IoState::kWouldBlock);
  }
}

TEST_F(SocketStreamTest, SignalsDoNotEndTheWait) {
  static std::atomic<int> signals = 0;
  struct sigaction action = {};
  action.sa_handler = [](int) { ++signals; };  // no SA_RESTART: system calls end with EINTR
  struct sigaction old_action = {};
  ASSERT_EQ(sigaction(SIGUSR1, &action, &old_action), 0);
  std::promise<pid_t> started;
  std::atomic<bool> called = false;
  std::thread waiter([&] {
    started.set_value(ThisThread());
    stream_->WhenReadable([&called] { called = true; });
  });
  const pid_t thread = started.get_future().get();
  for (int i = 0; i < 20; ++i) {
    AwaitBlocked(thread);
    pthread_kill(waiter.native_handle(), SIGUSR1);
    while (signals <= i) sched_yield();
  }
  AwaitBlocked(thread);
  EXPECT_FALSE(called);
  ASSERT_EQ(send(peer_.get(), "x", 1, 0), 1);
  waiter.join();
  EXPECT_TRUE(called);
  sigaction(SIGUSR1, &old_action, nullptr);
}

TEST_F(SocketStreamTest, WhatWasReadBeforeComesFirst) {
  auto [ours, theirs] = MakeSocketPair();
  const std::unique_ptr<ByteStream> stream = *MakeSocketStream(std::move(ours), "before");
  ASSERT_EQ(send(theirs.get(), "after", 5, 0), 5);
  bool ready = false;
  stream->WhenReadable([&ready] { ready = true; });
  EXPECT_TRUE(ready);
  std::string read;
  std::array<char, 4> piece{};
  for (int i = 0; i < 4; ++i) {
    const absl::StatusOr<IoResult> result = stream->Read(absl::MakeSpan(piece));
    ASSERT_TRUE(result.ok());
    read.append(piece.data(), result->bytes);
  }
  EXPECT_EQ(read, "beforeafter");
  EXPECT_EQ(stream->Read(absl::MakeSpan(piece))->state, IoState::kWouldBlock);
}

TEST_F(SocketStreamTest, ShutdownRacingWithTheStartOfAWaitIsNotLost) {
  for (int i = 0; i < 300; ++i) {
    auto [ours, theirs] = MakeSocketPair();
    const std::unique_ptr<ByteStream> stream = *MakeSocketStream(std::move(ours));
    std::thread waiter([&] { stream->WhenReadable([] {}); });
    stream->Shutdown();
    waiter.join();  // a lost wake-up would hang here
  }
}

}  // namespace
}  // namespace superfluid
