#include "protocol/frames/frame_decoder.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "protocol/frames/frame.h"
#include "protocol/messages/status.h"
#include "tests/protocol/allocation_watch.h"

namespace superfluid::linkw {
namespace {

constexpr uint16_t kUnknownRequired = 0x7abc;
constexpr uint16_t kUnknownDroppable = 0xfabc;

class FrameDecoderTest : public testing::Test {
 protected:
  // A frame with the next seq.
  std::string MakeFrame(uint16_t type, std::string_view payload) {
    FrameHeader header;
    header.type = type;
    header.seq = ++seq_;
    header.correlation = seq_ * 10;
    return EncodeFrame(header, payload);
  }

  std::string MakeFrame(MessageType type, std::string_view payload) {
    return MakeFrame(static_cast<uint16_t>(type), payload);
  }

  // All frames that are whole by now.
  std::vector<Frame> Drain() {
    std::vector<Frame> frames;
    while (true) {
      auto frame = decoder_.Next();
      if (!frame.ok()) {
        error_ = frame.status();
        return frames;
      }
      if (!frame->has_value()) return frames;
      frames.push_back(**std::move(frame));
    }
  }

  // Feeds a stream that must be refused, checks that the error stays, and returns its text.
  std::string ExpectError(std::string_view bytes, Status expected) {
    decoder_.Append(bytes);
    Drain();
    EXPECT_EQ(FromAbsl(error_), expected) << error_;
    const absl::Status first = error_;
    decoder_.Append(MakeFrame(MessageType::kPing, ""));
    EXPECT_TRUE(Drain().empty());
    EXPECT_EQ(error_, first) << "the error must be sticky";
    return std::string(first.message());
  }

  void ExpectMentions(const std::string& message, std::string_view text) {
    EXPECT_NE(message.find(text), std::string::npos) << "'" << text << "' is not in: " << message;
  }

  FrameDecoder decoder_;
  absl::Status error_;
  uint64_t seq_ = 0;
};

// ---- Frames

TEST_F(FrameDecoderTest, DecodesFramesInOrder) {
  decoder_.Append(MakeFrame(MessageType::kPing, ""));
  decoder_.Append(MakeFrame(MessageType::kHello, "hello"));
  const std::vector<Frame> frames = Drain();
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[0].type(), MessageType::kPing);
  EXPECT_EQ(frames[0].payload, "");
  EXPECT_EQ(frames[0].offset, 0u);
  EXPECT_EQ(frames[1].type(), MessageType::kHello);
  EXPECT_EQ(frames[1].payload, "hello");
  EXPECT_EQ(frames[1].header.seq, 2u);
  EXPECT_EQ(frames[1].header.correlation, 20u);
  EXPECT_EQ(frames[1].offset, 32u);
  EXPECT_TRUE(error_.ok());
  EXPECT_TRUE(decoder_.at_boundary());
}

TEST_F(FrameDecoderTest, GivesNothingUntilAFrameIsWhole) {
  const std::string frame = MakeFrame(MessageType::kHello, "hello");
  for (size_t i = 0; i < frame.size(); ++i) {
    EXPECT_TRUE(Drain().empty()) << i;
    EXPECT_EQ(decoder_.at_boundary(), i == 0);
    decoder_.Append(frame.substr(i, 1));
  }
  const std::vector<Frame> frames = Drain();
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].payload, "hello");
  EXPECT_EQ(decoder_.bytes_received(), frame.size());
}

TEST_F(FrameDecoderTest, TellsAHeaderBeforeThePayloadIsThere) {
  const std::string large(1'000'000, 'x');
  const std::string frame = MakeFrame(MessageType::kTranscribeAudio, large);
  decoder_.Append(frame.substr(0, kFrameHeaderBytes - 1));
  EXPECT_FALSE((*decoder_.NextHeader()).has_value());
  decoder_.Append(frame.substr(kFrameHeaderBytes - 1, 1));
  for (int i = 0; i < 2; ++i) {
    const std::optional<FrameHeader> header = *decoder_.NextHeader();
    ASSERT_TRUE(header.has_value());
    EXPECT_EQ(header->payload_len, large.size());
    EXPECT_EQ(header->seq, 1u);
  }
  EXPECT_TRUE(Drain().empty());
  decoder_.Append(frame.substr(kFrameHeaderBytes));
  const std::vector<Frame> frames = Drain();
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].payload, large);
  EXPECT_FALSE((*decoder_.NextHeader()).has_value());
}

TEST_F(FrameDecoderTest, ASkippedFrameHasNoHeaderToTell) {
  decoder_.Append(MakeFrame(kUnknownDroppable, "skipped"));
  decoder_.Append(MakeFrame(MessageType::kPing, ""));
  EXPECT_EQ((*decoder_.NextHeader())->seq, 2u);
  EXPECT_EQ(decoder_.skipped_frames(), 1u);
  EXPECT_EQ(Drain().size(), 1u);
}

TEST_F(FrameDecoderTest, DecodesAnySplitTheSameWay) {
  const uint32_t seed = std::random_device()();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  std::string stream;
  std::vector<std::string> payloads;
  for (int i = 0; i < 60; ++i) {
    const size_t size = i % 10 == 0 ? random() % 300000 : random() % 300;
    payloads.emplace_back(size, static_cast<char>('a' + i % 26));
    stream += MakeFrame(MessageType::kStateSyncRequest, payloads.back());
  }
  for (int round = 0; round < 20; ++round) {
    decoder_ = FrameDecoder();
    std::vector<Frame> frames;
    for (size_t at = 0; at < stream.size();) {
      const size_t piece = std::min<size_t>(1 + random() % 200000, stream.size() - at);
      decoder_.Append(std::string_view(stream).substr(at, piece));
      at += piece;
      for (Frame& frame : Drain()) frames.push_back(std::move(frame));
    }
    ASSERT_TRUE(error_.ok()) << error_;
    ASSERT_EQ(frames.size(), payloads.size());
    for (size_t i = 0; i < frames.size(); ++i) EXPECT_EQ(frames[i].payload, payloads[i]);
  }
}

TEST_F(FrameDecoderTest, ReadsALargePayloadStraightIntoItsMemory) {
  const std::string payload(3 << 20, 'p');
  const std::string frame = MakeFrame(MessageType::kTranscribeAudio, payload);
  size_t at = 0;
  size_t large_reads = 0;
  std::vector<Frame> frames;
  while (at < frame.size()) {
    const absl::Span<char> space = decoder_.Prepare();
    ASSERT_FALSE(space.empty());
    if (space.size() > FrameDecoder::kReadBytes) ++large_reads;
    const size_t size = std::min(space.size(), frame.size() - at);
    std::memcpy(space.data(), frame.data() + at, size);
    decoder_.Commit(size);
    at += size;
    for (Frame& f : Drain()) frames.push_back(std::move(f));
  }
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].payload, payload);
  EXPECT_GE(large_reads, 2u);
}

TEST_F(FrameDecoderTest, AReadThatGaveNothingChangesNothing) {
  const std::string payload(200000, 'p');
  const std::string frame = MakeFrame(MessageType::kTranscribeAudio, payload);
  decoder_.Append(frame.substr(0, 100));
  EXPECT_TRUE(Drain().empty());
  for (int i = 0; i < 3; ++i) {
    (void)decoder_.Prepare();
    decoder_.Commit(0);
    EXPECT_TRUE(Drain().empty());
    (void)decoder_.Prepare();  // and nothing committed at all
    EXPECT_TRUE(Drain().empty());
  }
  decoder_.Append(frame.substr(100));
  const std::vector<Frame> frames = Drain();
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].payload, payload);
}

// ---- Errors

TEST_F(FrameDecoderTest, RefusesAChangedByteAnywhereInTheHeader) {
  const std::string good = MakeFrame(MessageType::kHello, "hello");
  for (size_t at = 0; at < kFrameHeaderBytes; ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ (1 << bit));
      FrameDecoder decoder;
      decoder.Append(bad);
      const auto frame = decoder.Next();
      ASSERT_FALSE(frame.ok()) << "byte " << at << " bit " << bit;
      EXPECT_EQ(FromAbsl(frame.status()), Status::kProtocolError);
      ExpectMentions(std::string(frame.status().message()),
                     at < 4 ? "bad magic" : "bad header checksum");
      ExpectMentions(std::string(frame.status().message()), "at byte 0");
    }
  }
}

TEST_F(FrameDecoderTest, SaysWhereTheBadFrameIs) {
  const std::string good = MakeFrame(MessageType::kHello, "hello");
  std::string bad = MakeFrame(MessageType::kPing, "");
  bad[0] = 'X';
  const std::string message = ExpectError(good + bad, Status::kProtocolError);
  ExpectMentions(message, "bad magic at byte 37");
  ExpectMentions(message, "after seq 1");
}

TEST_F(FrameDecoderTest, RefusesAnotherVersion) {
  FrameHeader header;
  header.proto_version = 9;
  header.type = 0x0080;
  header.seq = 1;
  const std::string message = ExpectError(EncodeFrame(header, ""), Status::kVersionMismatch);
  ExpectMentions(message, "protocol version 9 instead of 8");
}

TEST_F(FrameDecoderTest, WantsTheNegotiatedVersionFromThenOn) {
  decoder_.Append(MakeFrame(MessageType::kHello, ""));
  EXPECT_EQ(Drain().size(), 1u);
  decoder_.SetVersion(9);
  ExpectError(MakeFrame(MessageType::kPing, ""), Status::kVersionMismatch);
}

TEST_F(FrameDecoderTest, SeqStartsAtOneAndGrowsByOne) {
  for (const uint64_t wrong : {uint64_t{0}, uint64_t{1}, uint64_t{3}, ~uint64_t{0}}) {
    FrameDecoder decoder;
    FrameHeader header;
    header.type = 0x0080;
    header.seq = 1;
    decoder.Append(EncodeFrame(header, ""));
    EXPECT_TRUE(decoder.Next().ok());
    header.seq = wrong;
    decoder.Append(EncodeFrame(header, ""));
    const auto frame = decoder.Next();
    EXPECT_EQ(FromAbsl(frame.status()), Status::kProtocolError) << wrong;
    ExpectMentions(std::string(frame.status().message()), "follows 1");
  }
  seq_ = 1;  // the first frame has 2
  const std::string message =
      ExpectError(MakeFrame(MessageType::kPing, ""), Status::kProtocolError);
  ExpectMentions(message, "seq 2 follows 0");
  ExpectMentions(message, "PING");
}

TEST_F(FrameDecoderTest, RefusesAPayloadAboveTheLimitOfItsTypeBeforeItComes) {
  FrameHeader header;
  header.type = static_cast<uint16_t>(MessageType::kTickSubmit);
  header.seq = 1;
  header.payload_len = (256u << 10) + 1;
  const HeaderBytes bytes = EncodeHeader(header);
  const std::string message =
      ExpectError(std::string_view(bytes.data(), bytes.size()), Status::kProtocolError);
  ExpectMentions(message, "262145");
  ExpectMentions(message, "262144");
  ExpectMentions(message, "TICK_SUBMIT");
}

TEST_F(FrameDecoderTest, AcceptsAPayloadOfExactlyTheLimit) {
  decoder_.Append(MakeFrame(MessageType::kTickSubmit, std::string(256 << 10, 'x')));
  EXPECT_EQ(Drain().size(), 1u);
  EXPECT_TRUE(error_.ok());
}

TEST_F(FrameDecoderTest, MaxFrameBoundsBulkToo) {
  decoder_ = FrameDecoder(1000);
  decoder_.Append(MakeFrame(MessageType::kStateSyncRequest, std::string(1000, 'x')));
  EXPECT_EQ(Drain().size(), 1u);
  decoder_.SetMaxFrame(2000);
  decoder_.Append(MakeFrame(MessageType::kStateSyncRequest, std::string(2000, 'x')));
  EXPECT_EQ(Drain().size(), 1u);
  ExpectError(MakeFrame(MessageType::kStateSyncRequest, std::string(2001, 'x')),
              Status::kProtocolError);
}

TEST_F(FrameDecoderTest, IgnoresWhateverFollowsAnError) {
  ExpectError(std::string(32, 'x'), Status::kProtocolError);
  const size_t before = AllocationWatch::Live();
  for (int i = 0; i < 100; ++i) decoder_.Append(std::string(1 << 20, 'x'));
  EXPECT_LT(AllocationWatch::Live(), before + (1 << 20));
  Drain();
  EXPECT_FALSE(error_.ok());
}

// ---- Memory

TEST_F(FrameDecoderTest, AllocatesForBytesThatCameNotForBytesThatAreClaimed) {
  FrameHeader header;
  header.type = static_cast<uint16_t>(MessageType::kTranscribeAudio);
  header.seq = 1;
  header.payload_len = 64u << 20;
  const HeaderBytes bytes = EncodeHeader(header);
  const AllocationWatch watch;
  decoder_.Append(std::string_view(bytes.data(), bytes.size()));
  EXPECT_TRUE(Drain().empty());
  decoder_.Append(std::string(100000, 'x'));
  EXPECT_TRUE(Drain().empty());
  EXPECT_LT(watch.Peak(), size_t{4} << 20);
}

// ---- Unknown types

TEST_F(FrameDecoderTest, SkipsAndCountsAnUnknownDroppableType) {
  decoder_.Append(MakeFrame(kUnknownDroppable, "whatever"));
  decoder_.Append(MakeFrame(MessageType::kPing, ""));
  const std::vector<Frame> frames = Drain();
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].type(), MessageType::kPing);
  EXPECT_EQ(frames[0].header.seq, 2u) << "the skipped frame's seq counts";
  EXPECT_EQ(frames[0].offset, 40u);
  EXPECT_EQ(decoder_.skipped_frames(), 1u);
}

TEST_F(FrameDecoderTest, DeliversAnUnknownRequiredTypeWithoutItsPayload) {
  const std::string frame = MakeFrame(kUnknownRequired, "whatever");
  decoder_.Append(frame.substr(0, frame.size() - 1));
  EXPECT_TRUE(Drain().empty());
  decoder_.Append(frame.substr(frame.size() - 1));
  decoder_.Append(MakeFrame(MessageType::kPing, ""));
  const std::vector<Frame> frames = Drain();
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[0].header.type, kUnknownRequired);
  EXPECT_EQ(frames[0].header.payload_len, 8u);
  EXPECT_EQ(frames[0].payload, "");
  EXPECT_EQ(decoder_.skipped_frames(), 0u);
}

TEST_F(FrameDecoderTest, KeepsNothingOfALargeUnknownPayload) {
  const std::string piece(100000, 'x');
  for (const uint16_t type : {kUnknownDroppable, kUnknownRequired}) {
    FrameHeader header;
    header.type = type;
    header.seq = ++seq_;
    header.payload_len = 40'000'000;
    const HeaderBytes bytes = EncodeHeader(header);
    const AllocationWatch watch;
    decoder_.Append(std::string_view(bytes.data(), bytes.size()));
    for (int i = 0; i < 400; ++i) {
      EXPECT_TRUE(Drain().empty());
      decoder_.Append(piece);
    }
    EXPECT_EQ(Drain().size(), type == kUnknownRequired ? 1u : 0u);
    EXPECT_LT(watch.Peak(), size_t{1} << 20);
  }
  EXPECT_TRUE(error_.ok()) << error_;
}

TEST_F(FrameDecoderTest, AnUnknownPayloadAboveMaxFrameEndsTheLink) {
  FrameHeader header;
  header.type = kUnknownDroppable;
  header.seq = 1;
  header.payload_len = kDefaultMaxFrame + 1;
  const HeaderBytes bytes = EncodeHeader(header);
  ExpectError(std::string_view(bytes.data(), bytes.size()), Status::kProtocolError);
}

// Whoever reads serves others between two reads, not while megabytes are moved.
TEST_F(FrameDecoderTest, WhatArrivedOfALargePayloadMovesOnce) {
  const std::string bytes = MakeFrame(MessageType::kStateSyncRequest, std::string(8u << 20, 'x'));
  std::vector<const char*> starts;  // of the memory that the payload is read into
  for (size_t read = 0; read < bytes.size();) {
    const absl::Span<char> space = decoder_.Prepare();
    const size_t size = std::min({space.size(), bytes.size() - read, size_t{64} << 10});
    std::memcpy(space.data(), bytes.data() + read, size);
    const char* const start = space.data() - (read - std::min(read, kFrameHeaderBytes));
    if (starts.empty() || starts.back() != start) starts.push_back(start);
    decoder_.Commit(size);
    read += size;
    if (read < bytes.size()) {
      EXPECT_TRUE(Drain().empty());
    }
  }
  EXPECT_LE(starts.size(), 4u) << "the read buffer, a MiB, all of it, and the buffer for the rest";
  EXPECT_EQ(Drain().size(), 1u);
}

}  // namespace
}  // namespace superfluid::linkw
