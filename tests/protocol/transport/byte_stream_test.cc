// The contract of ByteStream, held against both kinds of it.
#include "protocol/transport/byte_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "protocol/transport/memory_stream.h"
#include "protocol/transport/socket_stream.h"
#include "tests/shm/fd_test_util.h"

namespace superfluid {
namespace {

using ::superfluid::testing::AwaitBlocked;
using ::superfluid::testing::CountOpenFds;
using ::superfluid::testing::MakeSocketPair;
using ::superfluid::testing::ThisThread;

enum class Kind { kSocket, kMemory, kMemoryByteByByte };

using StreamPair = std::pair<std::unique_ptr<ByteStream>, std::unique_ptr<ByteStream>>;

StreamPair MakePair(Kind kind) {
  if (kind == Kind::kMemory) return MakeMemoryStreamPair();
  if (kind == Kind::kMemoryByteByByte) {
    return MakeMemoryStreamPair({.capacity_bytes = 1000, .max_chunk_bytes = 1});
  }
  auto [a, b] = MakeSocketPair();
  return {*MakeSocketStream(std::move(a)), *MakeSocketStream(std::move(b))};
}

class ByteStreamTest : public ::testing::TestWithParam<Kind> {
 protected:
  void TearDown() override {
    a_.reset();
    b_.reset();
    EXPECT_EQ(CountOpenFds(), fds_before_) << "descriptors leaked";
  }

  static IoResult MustRead(ByteStream& stream, absl::Span<char> out) {
    const absl::StatusOr<IoResult> result = stream.Read(out);
    EXPECT_TRUE(result.ok()) << result.status();
    return *result;
  }

  static IoResult MustWrite(ByteStream& stream, const std::vector<std::string_view>& pieces) {
    const absl::StatusOr<IoResult> result = stream.Write(pieces);
    EXPECT_TRUE(result.ok()) << result.status();
    return *result;
  }

  // Reads until the stream has nothing more, whatever the pieces; `end` gets why it stopped.
  static std::string ReadAll(ByteStream& stream, IoState end) {
    std::string all;
    char buffer[4096];
    for (;;) {
      const IoResult result = MustRead(stream, absl::MakeSpan(buffer));
      if (result.state != IoState::kOk) {
        EXPECT_EQ(result.state, end);
        EXPECT_EQ(result.bytes, 0u);
        return all;
      }
      all.append(buffer, result.bytes);
    }
  }

  // Writes all of `text`, which must fit.
  static void WriteAll(ByteStream& stream, std::string_view text) {
    while (!text.empty()) {
      const IoResult result = MustWrite(stream, {text});
      ASSERT_EQ(result.state, IoState::kOk);
      text.remove_prefix(result.bytes);
    }
  }

  // Writes until nothing more fits and returns how much did.
  static size_t Fill(ByteStream& stream) {
    const std::string block(10000, 'x');
    size_t total = 0;
    for (;;) {
      const IoResult result = MustWrite(stream, {block});
      if (result.state != IoState::kOk) {
        EXPECT_EQ(result.state, IoState::kWouldBlock);
        return total;
      }
      total += result.bytes;
    }
  }

  // Starts a thread that waits as `wait(ready)` says, calls `wake` once it does, and returns once
  // the callback was called.
  template <typename Wait, typename Wake>
  static void ExpectWakes(Wait wait, Wake wake) {
    std::promise<pid_t> started;
    std::promise<void> called;
    std::thread waiter([&] {
      started.set_value(ThisThread());
      wait([&called] { called.set_value(); });
    });
    const pid_t thread = started.get_future().get();
    if (GetParam() == Kind::kSocket) {
      AwaitBlocked(thread);
    } else {
      waiter.join();  // a stream in memory does not hold the thread
    }
    wake();
    called.get_future().wait();
    if (waiter.joinable()) waiter.join();
  }

  // Blocks until the stream can be read or written, whichever kind it is.
  static void AwaitReadable(ByteStream& stream) {
    std::promise<void> ready;
    stream.WhenReadable([&ready] { ready.set_value(); });
    ready.get_future().wait();
  }
  static void AwaitWritable(ByteStream& stream) {
    std::promise<void> ready;
    stream.WhenWritable([&ready] { ready.set_value(); }, absl::InfiniteDuration());
    ready.get_future().wait();
  }

  const size_t fds_before_ = CountOpenFds();
  StreamPair pair_ = MakePair(GetParam());
  std::unique_ptr<ByteStream>& a_ = pair_.first;
  std::unique_ptr<ByteStream>& b_ = pair_.second;
};

TEST_P(ByteStreamTest, CarriesBytesBothWays) {
  WriteAll(*a_, "to b");
  WriteAll(*b_, "to a, longer");
  EXPECT_EQ(ReadAll(*b_, IoState::kWouldBlock), "to b");
  EXPECT_EQ(ReadAll(*a_, IoState::kWouldBlock), "to a, longer");
}

TEST_P(ByteStreamTest, GathersPiecesInOrder) {
  std::vector<std::string_view> pieces = {"", "head", "", "er ", "payload", ""};
  while (!pieces.empty()) {
    size_t left = MustWrite(*a_, pieces).bytes;
    while (!pieces.empty() && left >= pieces.front().size()) {
      left -= pieces.front().size();
      pieces.erase(pieces.begin());
    }
    if (!pieces.empty()) pieces.front().remove_prefix(left);
  }
  EXPECT_EQ(ReadAll(*b_, IoState::kWouldBlock), "header payload");
}

TEST_P(ByteStreamTest, WritingNothingIsFine) {
  for (const std::vector<std::string_view>& pieces :
       {std::vector<std::string_view>{}, std::vector<std::string_view>{"", ""}}) {
    const IoResult result = MustWrite(*a_, pieces);
    EXPECT_EQ(result.state, IoState::kOk);
    EXPECT_EQ(result.bytes, 0u);
  }
}

TEST_P(ByteStreamTest, TakesMorePiecesThanOneSystemCallDoes) {
  const std::vector<std::string_view> pieces(5000, "y");
  const IoResult result = MustWrite(*a_, pieces);
  EXPECT_EQ(result.state, IoState::kOk);
  ASSERT_GT(result.bytes, 0u);
  EXPECT_EQ(ReadAll(*b_, IoState::kWouldBlock), std::string(result.bytes, 'y'));
}

TEST_P(ByteStreamTest, ReadingIntoNothingIsRefused) {
  EXPECT_EQ(a_->Read({}).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_P(ByteStreamTest, FullStreamWouldBlockAndLosesNothing) {
  const size_t total = Fill(*a_);
  EXPECT_EQ(ReadAll(*b_, IoState::kWouldBlock), std::string(total, 'x'));
  WriteAll(*a_, "z");
  EXPECT_EQ(ReadAll(*b_, IoState::kWouldBlock), "z");
}

TEST_P(ByteStreamTest, WhatWasWrittenBeforeTheEndStillArrives) {
  WriteAll(*a_, "last words");
  a_->Shutdown();
  EXPECT_EQ(ReadAll(*b_, IoState::kClosed), "last words");
  EXPECT_EQ(ReadAll(*b_, IoState::kClosed), "");
}

TEST_P(ByteStreamTest, DestroyingAnEndClosesIt) {
  WriteAll(*a_, "last words");
  a_.reset();
  EXPECT_EQ(ReadAll(*b_, IoState::kClosed), "last words");
  EXPECT_EQ(MustWrite(*b_, {"x"}).state, IoState::kClosed);
}

TEST_P(ByteStreamTest, VanishedPeerWithUnreadBytesIsAClosedOne) {
  WriteAll(*a_, "never read");
  b_.reset();
  EXPECT_EQ(ReadAll(*a_, IoState::kClosed), "");
  EXPECT_EQ(MustWrite(*a_, {"x"}).state, IoState::kClosed);
}

TEST_P(ByteStreamTest, OwnShutdownClosesBothDirectionsAtOnce) {
  WriteAll(*a_, "unread");
  b_->Shutdown();
  b_->Shutdown();
  EXPECT_EQ(ReadAll(*b_, IoState::kClosed), "");
  EXPECT_EQ(MustWrite(*b_, {"x"}).state, IoState::kClosed);
  EXPECT_EQ(MustWrite(*a_, {"x"}).state, IoState::kClosed);
}

TEST_P(ByteStreamTest, CallsBackAtOnceIfItIsDue) {
  int calls = 0;
  const auto count = [&calls] { ++calls; };
  a_->WhenWritable(count, absl::InfiniteDuration());
  EXPECT_EQ(calls, 1);
  WriteAll(*a_, "x");
  b_->WhenReadable(count);
  EXPECT_EQ(calls, 2);
  a_->Shutdown();
  EXPECT_EQ(ReadAll(*b_, IoState::kClosed), "x");
  b_->WhenReadable(count);
  b_->WhenWritable(count, absl::InfiniteDuration());
  a_->WhenReadable(count);
  a_->WhenWritable(count, absl::InfiniteDuration());
  EXPECT_EQ(calls, 6);
}

TEST_P(ByteStreamTest, BytesWakeTheReader) {
  ExpectWakes([&](auto ready) { b_->WhenReadable(ready); }, [&] { WriteAll(*a_, "wake"); });
  EXPECT_EQ(ReadAll(*b_, IoState::kWouldBlock), "wake");
}

TEST_P(ByteStreamTest, OwnShutdownWakesTheReader) {
  ExpectWakes([&](auto ready) { b_->WhenReadable(ready); }, [&] { b_->Shutdown(); });
  EXPECT_EQ(ReadAll(*b_, IoState::kClosed), "");
}

TEST_P(ByteStreamTest, ThePeersEndWakesTheReader) {
  ExpectWakes([&](auto ready) { b_->WhenReadable(ready); }, [&] { a_.reset(); });
  EXPECT_EQ(ReadAll(*b_, IoState::kClosed), "");
}

TEST_P(ByteStreamTest, RoomWakesTheWriter) {
  Fill(*a_);
  ExpectWakes([&](auto ready) { a_->WhenWritable(ready, absl::InfiniteDuration()); },
              [&] { ReadAll(*b_, IoState::kWouldBlock); });
  WriteAll(*a_, "x");
}

TEST_P(ByteStreamTest, OwnShutdownWakesTheWriter) {
  Fill(*a_);
  ExpectWakes([&](auto ready) { a_->WhenWritable(ready, absl::InfiniteDuration()); },
              [&] { a_->Shutdown(); });
  EXPECT_EQ(MustWrite(*a_, {"x"}).state, IoState::kClosed);
}

TEST_P(ByteStreamTest, ThePeersEndWakesTheWriter) {
  Fill(*a_);
  ExpectWakes([&](auto ready) { a_->WhenWritable(ready, absl::InfiniteDuration()); },
              [&] { b_.reset(); });
  EXPECT_EQ(MustWrite(*a_, {"x"}).state, IoState::kClosed);
}

// A byte of a long, not repeating text.
char TextAt(size_t i) { return static_cast<char>((i * 2654435761u) >> 24); }

TEST_P(ByteStreamTest, CarriesFarMoreThanItHoldsBetweenTwoThreads) {
  const size_t bytes = GetParam() == Kind::kMemoryByteByByte ? 20000 : 5000000;
  std::thread writing([&] {
    std::string text(bytes, 0);
    for (size_t i = 0; i < bytes; ++i) text[i] = TextAt(i);
    std::string_view left = text;
    while (!left.empty()) {
      const IoResult result =
          MustWrite(*a_, {left.substr(0, 7), left.substr(std::min<size_t>(7, left.size()))});
      ASSERT_NE(result.state, IoState::kClosed);
      if (result.state == IoState::kWouldBlock) AwaitWritable(*a_);
      left.remove_prefix(result.bytes);
    }
    a_->Shutdown();
  });
  size_t received = 0;
  char buffer[3000];
  for (;;) {
    const IoResult result = MustRead(*b_, absl::MakeSpan(buffer));
    if (result.state == IoState::kClosed) break;
    if (result.state == IoState::kWouldBlock) AwaitReadable(*b_);
    for (size_t i = 0; i < result.bytes; ++i) ASSERT_EQ(buffer[i], TextAt(received + i));
    received += result.bytes;
  }
  writing.join();
  EXPECT_EQ(received, bytes);
}

std::string KindName(const ::testing::TestParamInfo<Kind>& kind) {
  if (kind.param == Kind::kSocket) return "Socket";
  return kind.param == Kind::kMemory ? "Memory" : "MemoryByteByByte";
}

INSTANTIATE_TEST_SUITE_P(Kinds, ByteStreamTest,
                         ::testing::Values(Kind::kSocket, Kind::kMemory, Kind::kMemoryByteByByte),
                         KindName);

}  // namespace
}  // namespace superfluid
