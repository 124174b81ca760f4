#include "protocol/frames/frame.h"

#include <zlib.h>

#include <string>

#include "gtest/gtest.h"
#include "protocol/frames/frame_decoder.h"
#include "protocol/messages/status.h"

namespace superfluid::linkw {
namespace {

std::string Bytes(std::initializer_list<int> values) {
  std::string bytes;
  for (int value : values) bytes.push_back(static_cast<char>(value));
  return bytes;
}

// The layout is a contract with programs in other languages: these bytes never change.
TEST(FrameTest, HeaderHasTheDocumentedBytes) {
  FrameHeader header;
  header.proto_version = 8;
  header.type = 0x8022;
  header.seq = 0x0102030405060708;
  header.correlation = 0x1112131415161718;
  const std::string frame = EncodeFrame(header, "payload");
  ASSERT_EQ(frame.size(), kFrameHeaderBytes + 7);
  const std::string fields = Bytes({'S',  'F',  'L',  'W',                           //
                                    0x08, 0x00,                                      //
                                    0x22, 0x80,                                      //
                                    0x08, 0x07, 0x06, 0x05, 0x04, 0x03, 0x02, 0x01,  //
                                    0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11,  //
                                    0x07, 0x00, 0x00, 0x00});
  EXPECT_EQ(frame.substr(0, 28), fields);
  EXPECT_EQ(frame.substr(28, 4), Bytes({0xc8, 0x60, 0x3b, 0x8f}));
  EXPECT_EQ(frame.substr(32), "payload");
}

TEST(FrameTest, ChecksumIsZlibsOfTheFirst28Bytes) {
  FrameHeader header;
  header.type = 1;
  header.seq = 1;
  const HeaderBytes bytes = EncodeHeader(header);
  const uLong crc = crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), 28);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(static_cast<unsigned char>(bytes[28 + i]), (crc >> (8 * i)) & 0xff);
  }
}

TEST(FrameEncoderTest, CountsFromOne) {
  FrameEncoder encoder;
  FrameDecoder decoder;
  EXPECT_EQ(encoder.next_seq(), 1u);
  decoder.Append(*encoder.Encode(MessageType::kPing, 0, ""));
  decoder.Append(*encoder.Encode(MessageType::kPong, 5, "x"));
  EXPECT_EQ(encoder.next_seq(), 3u);
  const auto first = decoder.Next();
  const auto second = decoder.Next();
  ASSERT_TRUE(first.ok() && first->has_value() && second.ok() && second->has_value());
  EXPECT_EQ((*first)->header, (FrameHeader{8, 0x0080, 1, 0, 0}));
  EXPECT_EQ((*second)->header, (FrameHeader{8, 0x0081, 2, 5, 1}));
  EXPECT_EQ((*second)->payload, "x");
}

TEST(FrameEncoderTest, RefusesWhatThePeerWouldRefuseAndConsumesNothing) {
  FrameEncoder encoder(1000);
  const std::string large(1001, 'x');
  const auto frame = encoder.Encode(MessageType::kStateSyncResult, 1, large);
  EXPECT_EQ(FromAbsl(frame.status()), Status::kTooLarge);
  EXPECT_EQ(encoder.next_seq(), 1u);
  EXPECT_TRUE(encoder.Encode(MessageType::kStateSyncResult, 1, large.substr(1)).ok());
  encoder.SetMaxFrame(kDefaultMaxFrame);
  EXPECT_FALSE(encoder.Encode(MessageType::kTickEmit, 1, std::string((256 << 10) + 1, 'x')).ok());
  EXPECT_TRUE(encoder.Encode(MessageType::kTickEmit, 1, std::string(256 << 10, 'x')).ok());
}

TEST(FrameEncoderTest, UsesTheNegotiatedVersion) {
  FrameEncoder encoder;
  encoder.SetVersion(9);
  FrameDecoder decoder;
  decoder.SetVersion(9);
  decoder.Append(*encoder.Encode(MessageType::kPing, 0, ""));
  EXPECT_TRUE(decoder.Next().ok());
}

}  // namespace
}  // namespace superfluid::linkw
