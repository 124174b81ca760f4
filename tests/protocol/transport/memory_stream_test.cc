// What is particular to streams in memory; the common contract is in byte_stream_test.cc.
#include "protocol/transport/memory_stream.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/time/time.h"

namespace superfluid {
namespace {

IoResult WriteText(ByteStream& stream, std::string_view text) { return *stream.Write({&text, 1}); }

std::string ReadOnce(ByteStream& stream) {
  char buffer[100];
  const IoResult result = *stream.Read(absl::MakeSpan(buffer));
  return std::string(buffer, result.bytes);
}

TEST(MemoryStreamTest, HoldsItsCapacityExactly) {
  auto [a, b] = MakeMemoryStreamPair({.capacity_bytes = 5});
  EXPECT_EQ(WriteText(*a, "1234567").bytes, 5u);
  EXPECT_EQ(WriteText(*a, "67").state, IoState::kWouldBlock);
  char two[2];
  EXPECT_EQ(b->Read(absl::MakeSpan(two))->bytes, 2u);
  EXPECT_EQ(WriteText(*a, "678").bytes, 2u);
  EXPECT_EQ(ReadOnce(*b), "34567");
}

TEST(MemoryStreamTest, DeliversInPiecesAsSmallAsAsked) {
  auto [a, b] = MakeMemoryStreamPair({.max_chunk_bytes = 3});
  EXPECT_EQ(WriteText(*a, "1234567").bytes, 3u);
  EXPECT_EQ(WriteText(*a, "4567").bytes, 3u);
  EXPECT_EQ(ReadOnce(*b), "123");
  EXPECT_EQ(ReadOnce(*b), "456");
  EXPECT_EQ(ReadOnce(*b), "");
}

TEST(MemoryStreamTest, ReportsTheUserThatItWasGiven) {
  auto [a, b] = MakeMemoryStreamPair({.peer_uid = 1234});
  EXPECT_EQ(a->peer_uid(), std::optional<uid_t>(1234));
  EXPECT_EQ(b->peer_uid(), std::optional<uid_t>(1234));
  EXPECT_EQ(MakeMemoryStreamPair().first->peer_uid(), std::nullopt);
}

TEST(MemoryStreamTest, CallsBackOnce) {
  auto [a, b] = MakeMemoryStreamPair();
  int calls = 0;
  b->WhenReadable([&calls] { ++calls; });
  EXPECT_EQ(calls, 0);
  WriteText(*a, "x");
  EXPECT_EQ(calls, 1);
  WriteText(*a, "y");
  EXPECT_EQ(calls, 1);
}

TEST(MemoryStreamTest, ANewCallbackReplacesTheOneThatWaits) {
  auto [a, b] = MakeMemoryStreamPair({.capacity_bytes = 1});
  int first = 0;
  int second = 0;
  b->WhenReadable([&first] { ++first; });
  b->WhenReadable([&second] { ++second; });
  WriteText(*a, "x");
  a->WhenWritable([&first] { ++first; }, absl::InfiniteDuration());
  a->WhenWritable([&second] { ++second; }, absl::InfiniteDuration());
  ReadOnce(*b);
  EXPECT_EQ(first, 0);
  EXPECT_EQ(second, 2);
}

TEST(MemoryStreamTest, DestructionDropsCallbacksThatWait) {
  auto [a, b] = MakeMemoryStreamPair({.capacity_bytes = 1});
  WriteText(*b, "x");
  int calls = 0;
  b->WhenReadable([&calls] { ++calls; });
  b->WhenWritable([&calls] { ++calls; }, absl::InfiniteDuration());
  b.reset();
  ReadOnce(*a);
  EXPECT_EQ(calls, 0);
}

TEST(MemoryStreamTest, TheEndIsToldToWhoDoesNotRead) {
  auto [a, b] = MakeMemoryStreamPair();
  int taken_back = 0;
  int calls = 0;
  b->WhenGone([&taken_back] { ++taken_back; });
  b->WhenGone(nullptr);
  b->WhenGone([&calls] { ++calls; });
  WriteText(*a, "x");
  EXPECT_EQ(calls, 0);
  a->Shutdown();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(taken_back, 0);
  EXPECT_EQ(ReadOnce(*b), "x");
  b->WhenGone([&calls] { ++calls; });
  EXPECT_EQ(calls, 2) << "it is gone already";
}

TEST(MemoryStreamTest, WaitingWriterIsNotWokenByTime) {
  // Virtual time: there is no clock that could run out.
  auto [a, b] = MakeMemoryStreamPair({.capacity_bytes = 1});
  WriteText(*a, "x");
  bool called = false;
  a->WhenWritable([&called] { called = true; }, absl::ZeroDuration());
  EXPECT_FALSE(called);
}

TEST(MemoryStreamTest, CallbacksMayUseTheStream) {
  auto [a, b] = MakeMemoryStreamPair({.capacity_bytes = 2});
  std::string received;
  ByteStream& reader = *b;
  b->WhenReadable([&] {
    received += ReadOnce(reader);
    reader.WhenReadable([&] { received += ReadOnce(reader); });
  });
  WriteText(*a, "ab");
  WriteText(*a, "cd");
  EXPECT_EQ(received, "abcd");
}

TEST(MemoryStreamTest, LongTrafficThroughASmallStreamKeepsOrder) {
  auto [a, b] = MakeMemoryStreamPair({.capacity_bytes = 7, .max_chunk_bytes = 4});
  std::string sent;
  std::string received;
  for (int i = 0; i < 5000; ++i) {
    const std::string text(static_cast<size_t>(i % 6), static_cast<char>('a' + i % 26));
    sent += text.substr(0, WriteText(*a, text).bytes);
    if (i % 3 != 0) received += ReadOnce(*b);
  }
  for (std::string more = ReadOnce(*b); !more.empty(); more = ReadOnce(*b)) received += more;
  EXPECT_EQ(received, sent);
  EXPECT_GT(sent.size(), 5000u);
}

}  // namespace
}  // namespace superfluid
