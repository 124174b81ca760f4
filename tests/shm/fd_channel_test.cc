// The contract of FdChannel, held against both kinds of it.
#include "shm/fd_channel.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "shm/memory_fd_channel.h"
#include "shm/socket_fd_channel.h"
#include "tests/shm/fd_test_util.h"

namespace superfluid {
namespace {

using ::superfluid::testing::AwaitBlocked;
using ::superfluid::testing::CountOpenFds;
using ::superfluid::testing::HasCloseOnExec;
using ::superfluid::testing::MakeMemfd;
using ::superfluid::testing::MakeSocketPair;
using ::superfluid::testing::NoMoreFds;
using ::superfluid::testing::SameFile;
using ::superfluid::testing::ThisThread;

enum class Kind { kSocket, kMemory };

using ChannelPair = std::pair<std::unique_ptr<FdChannel>, std::unique_ptr<FdChannel>>;

ChannelPair MakePair(Kind kind) {
  if (kind == Kind::kMemory) return MakeMemoryFdChannelPair();
  auto [a, b] = MakeSocketPair();
  return {*MakeSocketFdChannel(std::move(a)), *MakeSocketFdChannel(std::move(b))};
}

class FdChannelTest : public ::testing::TestWithParam<Kind> {
 protected:
  void TearDown() override {
    a_.reset();
    b_.reset();
    EXPECT_EQ(CountOpenFds(), fds_before_) << "descriptors leaked";
  }

  void Send(FdChannel& channel, uint64_t tag, int fd) {
    const absl::StatusOr<IoState> state = channel.Send(tag, fd);
    ASSERT_TRUE(state.ok()) << state.status();
    EXPECT_EQ(*state, IoState::kOk);
  }

  void ExpectItem(FdChannel& channel, uint64_t tag, int same_file_as) {
    const absl::StatusOr<FdReceiveResult> result = channel.Receive();
    ASSERT_TRUE(result.ok()) << result.status();
    ASSERT_EQ(result->state, IoState::kOk);
    ASSERT_TRUE(result->item.has_value());
    EXPECT_EQ(result->item->tag, tag);
    EXPECT_TRUE(SameFile(result->item->fd.get(), same_file_as));
    EXPECT_TRUE(HasCloseOnExec(result->item->fd.get()));
  }

  void ExpectState(FdChannel& channel, IoState state) {
    const absl::StatusOr<FdReceiveResult> result = channel.Receive();
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->state, state);
    EXPECT_FALSE(result->item.has_value());
  }

  const size_t fds_before_ = CountOpenFds();
  ChannelPair pair_ = MakePair(GetParam());
  std::unique_ptr<FdChannel>& a_ = pair_.first;
  std::unique_ptr<FdChannel>& b_ = pair_.second;
};

TEST_P(FdChannelTest, CarriesDescriptorsInOrderBothWays) {
  const OwnedFd first = MakeMemfd(1, 0);
  const OwnedFd second = MakeMemfd(1, 0);
  ExpectState(*b_, IoState::kWouldBlock);
  Send(*a_, 1, first.get());
  Send(*a_, 2, second.get());
  Send(*b_, 3, second.get());
  ExpectItem(*b_, 1, first.get());
  ExpectItem(*b_, 2, second.get());
  ExpectState(*b_, IoState::kWouldBlock);
  ExpectItem(*a_, 3, second.get());
}

TEST_P(FdChannelTest, SenderKeepsItsDescriptor) {
  OwnedFd fd = MakeMemfd(1, 0);
  Send(*a_, 1, fd.get());
  EXPECT_NE(fcntl(fd.get(), F_GETFD), -1);
  const OwnedFd again(fcntl(fd.get(), F_DUPFD_CLOEXEC, 0));
  fd.Reset();  // what was sent does not depend on it
  ExpectItem(*b_, 1, again.get());
}

TEST_P(FdChannelTest, RefusesADescriptorThatIsNotOpen) {
  EXPECT_EQ(a_->Send(1, -1).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_P(FdChannelTest, WhatWasSentBeforeTheEndStillArrives) {
  const OwnedFd fd = MakeMemfd(1, 0);
  Send(*a_, 1, fd.get());
  a_->Shutdown();
  ExpectItem(*b_, 1, fd.get());
  ExpectState(*b_, IoState::kClosed);
}

TEST_P(FdChannelTest, DestroyingAnEndClosesIt) {
  const OwnedFd fd = MakeMemfd(1, 0);
  Send(*a_, 1, fd.get());
  a_.reset();
  ExpectItem(*b_, 1, fd.get());
  ExpectState(*b_, IoState::kClosed);
  const absl::StatusOr<IoState> state = b_->Send(1, fd.get());
  ASSERT_TRUE(state.ok()) << state.status();
  EXPECT_EQ(*state, IoState::kClosed);
}

TEST_P(FdChannelTest, OwnShutdownClosesBothDirectionsAtOnce) {
  const OwnedFd fd = MakeMemfd(1, 0);
  Send(*a_, 1, fd.get());
  b_->Shutdown();
  b_->Shutdown();
  ExpectState(*b_, IoState::kClosed);
  const absl::StatusOr<IoState> state = b_->Send(1, fd.get());
  ASSERT_TRUE(state.ok()) << state.status();
  EXPECT_EQ(*state, IoState::kClosed);
}

TEST_P(FdChannelTest, FullChannelWouldBlockAndRecovers) {
  const OwnedFd fd = MakeMemfd(1, 0);
  uint64_t sent = 0;
  while (sent < 100000) {
    const absl::StatusOr<IoState> state = a_->Send(sent, fd.get());
    ASSERT_TRUE(state.ok()) << state.status();
    if (*state == IoState::kWouldBlock) break;
    ++sent;
  }
  ASSERT_LT(sent, 100000u);
  for (uint64_t tag = 0; tag < sent; ++tag) ExpectItem(*b_, tag, fd.get());
  Send(*a_, sent, fd.get());
}

TEST_P(FdChannelTest, CallsBackAtOnceIfThereIsSomething) {
  const OwnedFd fd = MakeMemfd(1, 0);
  Send(*a_, 1, fd.get());
  bool called = false;
  b_->WhenReadable([&called] { called = true; });
  EXPECT_TRUE(called);
  ExpectItem(*b_, 1, fd.get());
  a_->Shutdown();
  called = false;
  b_->WhenReadable([&called] { called = true; });
  EXPECT_TRUE(called);
}

// Starts a thread that waits in WhenReadable, calls `wake` once it does, and expects the callback.
template <typename Wake>
void ExpectWakes(FdChannel& waiting, Kind kind, Wake wake) {
  std::promise<pid_t> started;
  std::promise<void> called;
  std::thread waiter([&] {
    started.set_value(ThisThread());
    waiting.WhenReadable([&called] { called.set_value(); });
  });
  const pid_t thread = started.get_future().get();
  if (kind == Kind::kSocket) {
    AwaitBlocked(thread);
  } else {
    waiter.join();  // a channel in memory does not hold the thread
  }
  wake();
  called.get_future().wait();
  if (waiter.joinable()) waiter.join();
}

TEST_P(FdChannelTest, ADescriptorWakesTheWaiter) {
  const OwnedFd fd = MakeMemfd(1, 0);
  ExpectWakes(*b_, GetParam(), [&] { Send(*a_, 4, fd.get()); });
  ExpectItem(*b_, 4, fd.get());
}

TEST_P(FdChannelTest, OwnShutdownWakesTheWaiter) {
  ExpectWakes(*b_, GetParam(), [&] { b_->Shutdown(); });
  ExpectState(*b_, IoState::kClosed);
}

TEST_P(FdChannelTest, ThePeersEndWakesTheWaiter) {
  ExpectWakes(*b_, GetParam(), [&] { a_.reset(); });
  ExpectState(*b_, IoState::kClosed);
}

std::string KindName(const ::testing::TestParamInfo<Kind>& kind) {
  return kind.param == Kind::kSocket ? "Socket" : "Memory";
}

INSTANTIATE_TEST_SUITE_P(Kinds, FdChannelTest, ::testing::Values(Kind::kSocket, Kind::kMemory),
                         KindName);

TEST(MemoryFdChannelTest, HoldsAsManyAsAsked) {
  auto [a, b] = MakeMemoryFdChannelPair(2);
  const OwnedFd fd = MakeMemfd(1, 0);
  EXPECT_EQ(*a->Send(1, fd.get()), IoState::kOk);
  EXPECT_EQ(*a->Send(2, fd.get()), IoState::kOk);
  EXPECT_EQ(*a->Send(3, fd.get()), IoState::kWouldBlock);
}

TEST(MemoryFdChannelTest, ReportsThatNoDescriptorIsLeft) {
  auto [a, b] = MakeMemoryFdChannelPair();
  const OwnedFd fd = MakeMemfd(1, 0);
  const NoMoreFds limit;
  EXPECT_EQ(a->Send(1, fd.get()).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST(MemoryFdChannelTest, ANewCallbackReplacesTheOneThatWaits) {
  auto [a, b] = MakeMemoryFdChannelPair();
  int first = 0;
  int second = 0;
  b->WhenReadable([&first] { ++first; });
  b->WhenReadable([&second] { ++second; });
  const OwnedFd fd = MakeMemfd(1, 0);
  ASSERT_TRUE(a->Send(1, fd.get()).ok());
  ASSERT_TRUE(a->Send(2, fd.get()).ok());
  EXPECT_EQ(first, 0);
  EXPECT_EQ(second, 1);
}

TEST(MemoryFdChannelTest, DestructionDropsTheCallbackThatWaits) {
  auto [a, b] = MakeMemoryFdChannelPair();
  bool called = false;
  b->WhenReadable([&called] { called = true; });
  b.reset();
  EXPECT_FALSE(called);
}

TEST(SocketFdChannelTest, RefusesWhatIsNotAConnectedStreamSocket) {
  EXPECT_EQ(MakeSocketFdChannel(MakeMemfd(1, 0)).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(MakeSocketFdChannel(OwnedFd(socket(AF_UNIX, SOCK_DGRAM, 0))).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(MakeSocketFdChannel(OwnedFd(socket(AF_UNIX, SOCK_STREAM, 0))).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(MakeSocketFdChannel(OwnedFd()).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace superfluid
