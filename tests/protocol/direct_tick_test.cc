// Ticks without Protobuf objects beside the same with: same verdicts, same structs, same bytes.

#include "protocol/codec/direct_tick.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "gtest/gtest.h"
#include "protocol/codec/codec.h"
#include "protocol/codec/tick_convert.h"
#include "protocol/codec/wire_scan.h"
#include "protocol/linkw.pb.h"
#include "tests/fuzz/mutator.h"
#include "tests/protocol/allocation_watch.h"
#include "tests/protocol/random_proto.h"
#include "tests/protocol/random_wire.h"
#include "tests/protocol/seed_of_test.h"
#include "tests/protocol/wire_builder.h"

namespace superfluid::linkw {
namespace {

// As the codec reads what the direct reader refuses.
template <class Proto, class Struct>
std::optional<Struct> ReadWithProtobuf(const std::string& payload) {
  if (!ScanPayload(RulesOf(*Proto::descriptor()), payload).ok()) return std::nullopt;
  Proto proto;
  if (!proto.ParseFromString(payload)) return std::nullopt;
  return FromProto(std::move(proto));
}

template <class P, class S>
struct Kind {
  using Proto = P;
  using Struct = S;
};

template <class K>
class DirectTickTest : public testing::Test {
 protected:
  using Proto = typename K::Proto;
  using Struct = typename K::Struct;

  static std::string RandomPayload(RandomProto& random) {
    Proto proto;
    random.Fill(proto);
    return proto.SerializeAsString();
  }

  void Compare(const std::string& payload) {
    Struct read;
    const bool accepted = ReadDirect(payload, read);
    const std::optional<Struct> expected = ReadWithProtobuf<Proto, Struct>(payload);
    ASSERT_EQ(accepted, expected.has_value()) << absl::BytesToHexString(payload);
    ++(accepted ? accepted_ : refused_);
    if (!accepted) return;
    ASSERT_TRUE(read == *expected) << absl::BytesToHexString(payload);
    ExpectSameBytes(read);
  }

  static void ExpectSameBytes(const Struct& message) {
    const std::string expected = ToProto(message).SerializeAsString();
    const std::string written = WriteDirect(message, 0);
    ASSERT_EQ(absl::BytesToHexString(written), absl::BytesToHexString(expected));
    ASSERT_EQ(WriteDirect(message, 32).substr(32), expected);
  }

  const uint64_t seed_ = SeedOfTest();
  testing::ScopedTrace trace_{__FILE__, __LINE__, "LINKW_SEED=" + std::to_string(seed_)};
  int accepted_ = 0;
  int refused_ = 0;
};

using Kinds = testing::Types<Kind<v8::TickSubmit, TickSubmit>, Kind<v8::TickResult, TickResult>,
                             Kind<v8::TickEmit, TickEmit>>;
TYPED_TEST_SUITE(DirectTickTest, Kinds);

TYPED_TEST(DirectTickTest, ReadsAndWritesWhatObeysTheSchema) {
  RandomProto random(this->seed_);
  for (int i = 0; i < 3000; ++i) this->Compare(this->RandomPayload(random));
  EXPECT_EQ(this->refused_, 0);
}

TYPED_TEST(DirectTickTest, AgreesOnFieldsInAnyOrderAndNumber) {
  RandomWire wire(this->seed_);
  const MessageRules& rules = RulesOf(*TypeParam::Proto::descriptor());
  for (int i = 0; i < 10000; ++i) this->Compare(wire.Payload(rules, static_cast<uint32_t>(i % 20)));
  EXPECT_GT(this->accepted_, 1000);
  EXPECT_GT(this->refused_, 200);
}

TYPED_TEST(DirectTickTest, AgreesOnDamage) {
  RandomProto random(this->seed_);
  fuzz::Mutator mutator(this->seed_);
  std::vector<std::string> others;
  for (int i = 0; i < 20; ++i) others.push_back(this->RandomPayload(random));
  for (int i = 0; i < 20000; ++i) {
    this->Compare(mutator.Mutate(this->RandomPayload(random), others));
  }
  EXPECT_GT(this->accepted_, 500);
  EXPECT_GT(this->refused_, 1000);
}

TYPED_TEST(DirectTickTest, TheDefaultHasTheBytesOfProtobuf) { this->ExpectSameBytes({}); }

// ---- Limits

template <class Struct>
bool Accepts(const std::string& payload) {
  Struct read;
  return ReadDirect(payload, read);
}

TEST(DirectTickLimitsTest, ListsEndAtTheirLimits) {
  const std::string lane = BytesField(4, VarintField(4, 2));
  EXPECT_TRUE(Accepts<TickSubmit>(BytesField(1, Repeat(lane, 256))));
  EXPECT_FALSE(Accepts<TickSubmit>(BytesField(1, Repeat(lane, 257))));
  const auto with_stops = [](size_t packed, size_t single) {
    return BytesField(1,
                      BytesField(4, VarintField(4, 2) + BytesField(9, Repeat(Varint(5), packed)) +
                                        Repeat(VarintField(9, 5), single)));
  };
  EXPECT_TRUE(Accepts<TickSubmit>(with_stops(200, 56)));
  EXPECT_FALSE(Accepts<TickSubmit>(with_stops(200, 57)));
  EXPECT_FALSE(Accepts<TickSubmit>(with_stops(257, 0)));
  EXPECT_TRUE(Accepts<TickEmit>(BytesField(3, Repeat(Varint(300), 4096))));
  EXPECT_FALSE(Accepts<TickEmit>(BytesField(3, Repeat(Varint(300), 4097))));
}

TEST(DirectTickLimitsTest, UnknownFieldsAreCountedOverThePayload) {
  const auto with_unknown = [](size_t outside, size_t inside) {
    return BytesField(1, BytesField(4, VarintField(4, 2) + Repeat(VarintField(30, 1), inside))) +
           Repeat(BytesField(31, "x"), outside);
  };
  EXPECT_TRUE(Accepts<TickSubmit>(with_unknown(1000, 24)));
  EXPECT_FALSE(Accepts<TickSubmit>(with_unknown(1000, 25)));
}

// What is claimed costs no memory: a lane of two bytes is what the smallest has.
TEST(DirectTickLimitsTest, MemoryIsBoundedByWhatIsThere) {
  const std::string lanes = Repeat(BytesField(4, ""), 100000);
  const std::string payload = BytesField(1, lanes);
  const AllocationWatch watch;
  EXPECT_FALSE(Accepts<TickSubmit>(payload));
  EXPECT_LT(watch.Peak(), 256 * 2 * sizeof(Lane));
}

// ---- What a worker may have to say

LaneEvent EventWith(const std::string& text) {
  LaneEvent event;
  event.out = {.ring_id = kTokenOutRing, .slot = 3, .generation = 4, .offset = 5, .count = 1};
  event.status = Status::kInvalidArgument;
  event.finish_reason = FinishReason::kError;
  event.message = text;
  return event;
}

void ExpectBytesOfProtobuf(const TickResult& result) {
  ASSERT_EQ(WriteDirect(result, 0), ToProto(result).SerializeAsString());
}

TEST(DirectTickTextTest, TextIsMadeUtf8AndCutAtItsLimit) {
  const std::string euro = "\xE2\x82\xAC";
  for (const std::string& text : {std::string("caf\xE9"), Repeat(euro, 400), Repeat("\xFF", 20000),
                                  Repeat(euro, 6000), std::string("a\0b", 3)}) {
    TickResult result;
    result.message = text;
    result.events.lanes = {EventWith(text), EventWith("")};
    result.events.op_completions = {{.op_handle = OpHandle{1}, .message = text}};
    ExpectBytesOfProtobuf(result);
    TickResult read;
    EXPECT_TRUE(ReadDirect(WriteDirect(result, 0), read));
  }
}

// More than the buffer that is kept, and less again.
TEST(DirectTickTextTest, TheBufferGrowsWithTheResult) {
  TickResult large;
  large.events.lanes.assign(256, EventWith(Repeat("m", 1024)));
  large.events.op_completions.assign(
      256, {.op_handle = OpHandle{~uint64_t{0}}, .message = Repeat("o", 16384)});
  large.message = Repeat("t", 16384);
  for (int i = 0; i < 2; ++i) {
    ExpectBytesOfProtobuf(large);
    ExpectBytesOfProtobuf({});
  }
}

// No struct should have them, but what is written is what Protobuf would write.
TEST(DirectTickTextTest, NumbersOutsideTheirEnumsHaveTheBytesOfProtobuf) {
  for (const uint32_t number : {22u, 0x7fffffffu, 0x80000000u, 0xffffffffu}) {
    TickResult result;
    result.status = static_cast<Status>(number);
    result.events.lanes.resize(1);
    result.events.lanes[0].status = static_cast<Status>(number);
    ExpectBytesOfProtobuf(result);
  }
}

TEST(DirectTickTextTest, ANegativeZeroIsWritten) {
  TickSubmit submit;
  submit.plan.lanes.resize(1);
  submit.plan.lanes[0].sampling.top_p = -0.0F;
  EXPECT_EQ(WriteDirect(submit, 0), ToProto(submit).SerializeAsString());
}

// ---- Through the codec

TEST(DirectTickCodecTest, WhatIsRefusedIsNamedByTheScan) {
  const std::string payload = BytesField(1, BytesField(4, VarintField(4, 9)));
  EXPECT_FALSE(Accepts<TickSubmit>(payload));
  const auto parsed = ParseDriverMessage(MessageType::kTickSubmit, payload);
  EXPECT_EQ(parsed.status().message(), "TickSubmit.plan.lanes[0].kind: unknown value 9");
}

TEST(DirectTickCodecTest, AFrameHasItsPayloadInPlace) {
  TickResult result;
  result.events.lanes = {EventWith("wrong")};
  UnfinishedFrame frame = SerializeFrame(WorkerMessage(result));
  const EncodedMessage encoded = Serialize(WorkerMessage(result));
  EXPECT_EQ(frame.payload_bytes(), encoded.payload.size());
  FrameEncoder finishes;
  FrameEncoder copies;
  for (int i = 0; i < 2; ++i) {  // seq counts on
    ASSERT_TRUE(finishes.Finish(frame.type, 7, frame.bytes).ok());
    EXPECT_EQ(frame.bytes, *copies.Encode(encoded.type, 7, encoded.payload));
  }
}

// The struct's list and the struct in its place; a payload's copy for the frame.
TEST(DirectTickCodecTest, ATickTakesFewAllocations) {
  TickSubmit submit;
  submit.plan.lanes.resize(256);
  TickResult result;
  result.events.lanes.resize(256);
  const std::string request = Serialize(DriverMessage(submit)).payload;
  const std::string answer = Serialize(WorkerMessage(result)).payload;
  const AllocationWatch watch;
  const auto read = ParseDriverMessage(MessageType::kTickSubmit, request);
  EXPECT_LE(watch.Count(), 1u);
  const auto answered = ParseWorkerMessage(MessageType::kTickResult, answer);
  EXPECT_LE(watch.Count(), 2u);
  const UnfinishedFrame frame = SerializeFrame(*answered);
  EXPECT_LE(watch.Count(), 3u);
  EXPECT_TRUE(read.ok());
  EXPECT_GT(frame.payload_bytes(), 0u);
}

}  // namespace
}  // namespace superfluid::linkw
