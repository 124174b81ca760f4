#include "actors/link/first_bytes.h"

#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "protocol/codec/codec.h"
#include "protocol/frames/frame.h"
#include "protocol/messages/messages.h"

namespace superfluid {
namespace {

using Kind = FirstBytes::Kind;

std::string HelloFrame(const std::string& client_name = "test") {
  linkw::Hello hello;
  hello.client_name = client_name;
  hello.role = linkw::Role::kObserver;
  const linkw::EncodedMessage encoded = linkw::Serialize(linkw::DriverMessage(hello));
  return *linkw::FrameEncoder().Encode(encoded.type, 0, encoded.payload);
}

// Feeds the bytes in pieces of at most `piece` and returns what the last one made of it.
Kind Feed(FirstBytes& first, std::string_view bytes, size_t piece) {
  Kind kind = Kind::kUndecided;
  while (!bytes.empty() && kind == Kind::kUndecided) {
    const std::string_view now = bytes.substr(0, std::min(piece, first.wanted()));
    kind = first.Add(now);
    bytes.remove_prefix(now.size());
  }
  return kind;
}

TEST(FirstBytesTest, AWholeHelloMakesAFramesConnectionWhateverThePieces) {
  const std::string hello = HelloFrame();
  for (size_t piece = 1; piece <= hello.size(); ++piece) {
    FirstBytes first;
    EXPECT_EQ(Feed(first, hello, piece), Kind::kFrames) << piece;
    EXPECT_EQ(first.TakeReceived(), hello) << piece;
  }
}

TEST(FirstBytesTest, AHelloWithoutItsLastByteIsUndecided) {
  const std::string hello = HelloFrame();
  for (size_t bytes = 0; bytes < hello.size(); ++bytes) {
    FirstBytes first;
    EXPECT_EQ(Feed(first, std::string_view(hello).substr(0, bytes), 1), Kind::kUndecided) << bytes;
  }
}

TEST(FirstBytesTest, WhatFollowsHelloIsKept) {
  const std::string bytes = HelloFrame() + "and more";
  FirstBytes first;
  EXPECT_EQ(Feed(first, bytes, 4096), Kind::kFrames);
  EXPECT_EQ(first.TakeReceived(), bytes);
}

TEST(FirstBytesTest, AHeaderThatCannotBeRightIsTheLinksToRefuse) {
  std::string hello = HelloFrame();
  hello[28] = static_cast<char>(hello[28] ^ 1);  // the checksum
  FirstBytes first;
  EXPECT_EQ(Feed(first, std::string_view(hello).substr(0, 31), 1), Kind::kUndecided);
  EXPECT_EQ(first.Add(hello.substr(31, 1)), Kind::kFrames);
}

TEST(FirstBytesTest, SixteenOtherBytesAreATokenAndNoByteMoreIsRead) {
  const std::string token = "0123456789abcdef";
  FirstBytes first;
  EXPECT_EQ(first.wanted(), 16U);
  EXPECT_EQ(first.Add(token.substr(0, 15)), Kind::kUndecided);
  EXPECT_EQ(first.wanted(), 1U);
  EXPECT_EQ(first.Add(token.substr(15)), Kind::kDescriptors);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(first.token().data()), 16), token);
}

TEST(FirstBytesTest, SkippedFramesWithoutEndAreBounded) {
  FirstBytes first;
  linkw::FrameEncoder encoder;
  std::string flood;
  while (flood.size() < 2 * FirstBytes::kMaxBytes) {
    flood += *encoder.Encode(linkw::MessageType{0xbfff}, 0, std::string(1000, 'x'));
  }
  EXPECT_EQ(Feed(first, flood, 4096), Kind::kFrames);
  EXPECT_LE(first.TakeReceived().size(), FirstBytes::kMaxBytes + 4096);
}

TEST(FirstBytesTest, TheLargestHelloFits) {
  const std::string hello = HelloFrame(std::string(200, 'n'));
  FirstBytes first;
  EXPECT_EQ(Feed(first, hello, 1), Kind::kFrames);
}

}  // namespace
}  // namespace superfluid
