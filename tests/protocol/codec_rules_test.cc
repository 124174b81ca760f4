// What a payload must not be, and which of the two kinds of error it then is.

#include <cmath>
#include <limits>
#include <string>

#include "gtest/gtest.h"
#include "protocol/codec/codec.h"
#include "protocol/linkw.pb.h"
#include "protocol/messages/status.h"
#include "tests/protocol/allocation_watch.h"
#include "tests/protocol/wire_builder.h"

namespace superfluid::linkw {
namespace {

using namespace std::string_literals;

void ExpectRefused(const absl::Status& status, Status expected, std::string_view text) {
  EXPECT_EQ(FromAbsl(status), expected) << status;
  EXPECT_NE(std::string(status.message()).find(text), std::string::npos)
      << "'" << text << "' is not in: " << status;
}

// A request that breaks a rule: its own error, the link stays.
void ExpectBroken(const DriverMessage& message, std::string_view text) {
  const EncodedMessage encoded = Serialize(message);
  const auto parsed = ParseDriverMessage(encoded.type, encoded.payload);
  ASSERT_FALSE(parsed.ok());
  EXPECT_FALSE(IsLinkError(parsed.status()));
  ExpectRefused(parsed.status(), Status::kInvalidArgument, text);
}

void ExpectFine(const DriverMessage& message) {
  const EncodedMessage encoded = Serialize(message);
  const auto parsed = ParseDriverMessage(encoded.type, encoded.payload);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_TRUE(*parsed == message);
}

Transcribe PathCall(std::string path) {
  Transcribe call;
  call.audio = AudioPath{std::move(path)};
  return call;
}

// ---- Requests that break a rule

TEST(CodecRulesTest, LanguageAndPromptMustBeUtf8) {
  Transcribe call = PathCall("a.wav");
  call.language = "\xff";
  ExpectBroken(StateSyncRequest{call}, "StateSyncReq.transcribe.language: not UTF-8");
  call.language = "en";
  call.prompt = "cut \xE2\x82";
  ExpectBroken(StateSyncRequest{call}, "StateSyncReq.transcribe.prompt: not UTF-8");
  call.prompt = "gr\xC3\xBC\xC3\x9F";
  ExpectFine(StateSyncRequest{call});
}

TEST(CodecRulesTest, PathsMayBeAnyBytesButNul) {
  ExpectFine(StateSyncRequest{PathCall("/media/\xff\xfe.wav")});
  ExpectFine(StateSyncRequest{PathCall(std::string(4096, 'p'))});
  ExpectBroken(StateSyncRequest{PathCall("a.wav\0.txt"s)},
               "StateSyncReq.transcribe.path: has a NUL byte inside");
  ExpectBroken(StateSyncRequest{PathCall(std::string(4097, 'p'))},
               "StateSyncReq.transcribe.path: 4097 bytes instead of at most 4096");
  ExpectBroken(StateSyncRequest{LoraLoad{"a\0b"s}}, "lora_load.adapter_path: has a NUL");
  ExpectBroken(StateSyncRequest{MediaProbe{"a\0b"s}}, "media_probe.path: has a NUL");
  ExpectBroken(StateSyncRequest{MediaEncode{"a\0b"s}}, "media_encode.path: has a NUL");
}

TEST(CodecRulesTest, NamesHaveNoNul) {
  Hello hello;
  hello.client_name = "a\0b"s;
  ExpectBroken(hello, "Hello.client_name: has a NUL");
  StrategyRegister strategy;
  strategy.strategy_id = "a\0b"s;
  ExpectBroken(strategy, "StrategyRegister.strategy_id: has a NUL");
  strategy.strategy_id = "id";
  strategy.target_archs = {"sm_90", "sm\0"s};
  ExpectBroken(strategy, "StrategyRegister.target_archs: has a NUL");
  strategy.target_archs.clear();
  strategy.artifacts = {{}, {}};
  strategy.artifacts[1].load_path = "\0"s;
  ExpectBroken(strategy, "StrategyRegister.artifacts[1].load_path: has a NUL");
}

TEST(CodecRulesTest, SamplingNumbersAreFinite) {
  TickSubmit tick;
  tick.plan.lanes.resize(3);
  tick.plan.lanes[2].sampling.top_p = std::numeric_limits<float>::quiet_NaN();
  ExpectBroken(tick, "TickSubmit.plan.lanes[2].sampling.top_p: not a finite number");
  tick.plan.lanes[2].sampling.top_p = 1;
  tick.plan.lanes[2].sampling.temperature = -std::numeric_limits<float>::infinity();
  ExpectBroken(tick, "sampling.temperature: not a finite number");
}

TEST(CodecRulesTest, ListsHaveLimits) {
  TickSubmit tick;
  tick.plan.lanes.resize(256);
  ExpectFine(tick);
  tick.plan.lanes.resize(257);
  ExpectBroken(tick, "TickSubmit.plan.lanes: more than 256 elements");
  tick.plan.lanes.resize(1);
  tick.plan.lanes[0].stop_tokens.assign(256, 7);
  ExpectFine(tick);
  tick.plan.lanes[0].stop_tokens.push_back(7);
  ExpectBroken(tick, "TickSubmit.plan.lanes[0].stop_tokens: more than 256 elements");
  Hello hello;
  hello.features.assign(65, "f");
  ExpectBroken(hello, "Hello.features: more than 64 elements");
}

TEST(CodecRulesTest, AsManyLogitBiasValuesAsTokens) {
  ExpectFine(StateSyncRequest{CreateLogitBias{{1, 2}, {0.5F, -INFINITY}}});
  ExpectBroken(StateSyncRequest{CreateLogitBias{{1, 2}, {0.5F}}}, "as many values as tokens");
}

TEST(CodecRulesTest, AudioMustBeThere) {
  v8::StateSyncReq proto;
  proto.mutable_transcribe()->set_language("en");
  const auto parsed = ParseDriverMessage(MessageType::kStateSyncRequest, proto.SerializeAsString());
  ExpectRefused(parsed.status(), Status::kInvalidArgument, "transcribe.audio: missing");
}

TEST(CodecRulesTest, RequiredPartsMustBeThere) {
  const auto status = [](MessageType type, const google::protobuf::Message& proto) {
    return ParseDriverMessage(type, proto.SerializeAsString()).status();
  };
  ExpectRefused(status(MessageType::kTickSubmit, v8::TickSubmit()), Status::kInvalidArgument,
                "TickSubmit.plan: missing");
  v8::Hello hello;
  ExpectRefused(status(MessageType::kHello, hello), Status::kInvalidArgument,
                "Hello.proto_versions: missing");
  hello.mutable_proto_versions();
  ExpectRefused(status(MessageType::kHello, hello), Status::kInvalidArgument,
                "Hello.role: missing");
}

TEST(CodecRulesTest, HashesHaveTheirLength) {
  const std::string key(32, 'k');
  const auto status = [&](std::string_view compat_key) {
    const std::string entry = BytesField(1, compat_key) + BytesField(2, key);
    return ParseDriverMessage(MessageType::kStateSyncRequest, BytesField(5, BytesField(1, entry)))
        .status();
  };
  EXPECT_TRUE(status(key).ok());
  for (const size_t length : {0u, 31u, 33u}) {
    ExpectRefused(status(std::string(length, 'k')), Status::kInvalidArgument,
                  "StateSyncReq.cache_evict_entries.keys[0].compat_key: " + std::to_string(length) +
                      " bytes instead of 32");
  }
  const auto absent = ParseDriverMessage(MessageType::kStateSyncRequest,
                                         BytesField(5, BytesField(1, BytesField(2, key))));
  ExpectRefused(absent.status(), Status::kInvalidArgument, "keys[0].compat_key: missing");
}

TEST(CodecRulesTest, LinkTokenHasSixteenBytes) {
  v8::HelloAckW ack;
  ack.set_engine_bundle_hash(std::string(32, 'h'));
  ack.mutable_limits();
  for (const size_t length : {0u, 15u, 17u}) {
    ack.set_link_token(std::string(length, 't'));
    EXPECT_EQ(
        FromAbsl(ParseWorkerMessage(MessageType::kHelloAck, ack.SerializeAsString()).status()),
        Status::kInvalidArgument);
  }
  ack.set_link_token(std::string(16, 't'));
  EXPECT_TRUE(ParseWorkerMessage(MessageType::kHelloAck, ack.SerializeAsString()).ok());
}

TEST(CodecRulesTest, EnumsHaveNamedValues) {
  const std::string versions = BytesField(1, VarintField(1, 8) + VarintField(2, 8));
  const auto status = [&](uint64_t role) {
    return ParseDriverMessage(MessageType::kHello, versions + VarintField(3, role)).status();
  };
  EXPECT_TRUE(status(1).ok());
  EXPECT_TRUE(status(2).ok());
  ExpectRefused(status(3), Status::kInvalidArgument, "Hello.role: unknown value 3");
  ExpectRefused(status(0), Status::kInvalidArgument, "Hello.role: unknown value 0");
  ExpectRefused(status(~uint64_t{0}), Status::kInvalidArgument, "Hello.role: unknown value -1");
}

TEST(CodecRulesTest, NumbersAreNotCutTo32Bits) {
  const auto parsed =
      ParseDriverMessage(MessageType::kDrainRequest, VarintField(2, (uint64_t{1} << 32) + 5));
  ExpectRefused(parsed.status(), Status::kInvalidArgument,
                "DrainReq.deadline_ms: does not fit into 32 bits");
  EXPECT_TRUE(ParseDriverMessage(MessageType::kDrainRequest, VarintField(2, 0xffffffff)).ok());
}

TEST(CodecRulesTest, AVersionThatDoesNotFitStaysTooLarge) {
  const std::string range = BytesField(1, VarintField(1, 65536 + 8) + VarintField(2, 65536 + 8));
  const auto parsed = ParseDriverMessage(MessageType::kHello, range + VarintField(3, 1));
  ASSERT_TRUE(parsed.ok());
  EXPECT_FALSE(Negotiate(std::get<Hello>(*parsed).proto_versions).ok());
}

TEST(CodecRulesTest, APartOccursOnce) {
  const std::string lanes = Repeat(BytesField(4, VarintField(4, 1)), 200);
  const std::string plan = BytesField(1, lanes);
  EXPECT_TRUE(ParseDriverMessage(MessageType::kTickSubmit, plan).ok());
  ExpectRefused(ParseDriverMessage(MessageType::kTickSubmit, plan + plan).status(),
                Status::kInvalidArgument, "TickSubmit.plan: occurs more than once");
}

TEST(CodecRulesTest, ACallThatThisVersionDoesNotKnowIsUnsupported) {
  const auto parsed = ParseDriverMessage(MessageType::kStateSyncRequest, BytesField(60, "x"));
  ExpectRefused(parsed.status(), Status::kUnsupported, "StateSyncReq.call");
  EXPECT_FALSE(IsLinkError(parsed.status()));
  ExpectRefused(ParseDriverMessage(MessageType::kStateOpSubmit, "").status(), Status::kUnsupported,
                "StateOpSubmit.op");
}

TEST(CodecRulesTest, TypesOfTheOtherDirectionAreUnimplemented) {
  for (uint32_t value = 0; value <= 0xffff; ++value) {
    const auto type = static_cast<MessageType>(value);
    const bool known = IsKnown(static_cast<uint16_t>(value));
    const bool to_worker = known && DirectionOf(type) != Direction::kToDaemon;
    const bool to_daemon = known && DirectionOf(type) != Direction::kToWorker;
    const auto driver = ParseDriverMessage(type, "").status();
    const auto worker = ParseWorkerMessage(type, "").status();
    EXPECT_EQ(FromAbsl(driver) != Status::kUnimplemented, to_worker) << MessageTypeName(type);
    EXPECT_EQ(FromAbsl(worker) != Status::kUnimplemented, to_daemon) << MessageTypeName(type);
    EXPECT_FALSE(IsLinkError(driver) || IsLinkError(worker));
  }
}

// ---- Payloads that are no messages

TEST(CodecRulesTest, BytesThatAreNoMessageEndTheLink) {
  const std::string overlong(11, '\x80');
  for (const std::string& bytes : {
           "\x08"s,                                          // a tag without a value
           "\x80"s,                                          // half a tag
           "\x00\x01"s,                                      // field number 0
           "\x0b\x0c"s,                                      // a group
           "\x0e"s,                                          // wire type 6
           "\x52\x05hi"s,                                    // a length beyond the end
           "\x08" + overlong,                                // a varint that never ends
           VarintField(1, 1).substr(0, 1),                   // cut short
           BytesField(1, "text"),                            // another wire type
           "\x52\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s,  // a length of 2^64 - 1
       }) {
    const auto parsed = ParseDriverMessage(MessageType::kTranscribeCancel, bytes);
    ExpectRefused(parsed.status(), Status::kProtocolError, "TranscribeCancel");
    EXPECT_TRUE(IsLinkError(parsed.status()));
  }
}

TEST(CodecRulesTest, SaysWhereInsideAMessageTheBytesAreWrong) {
  const std::string lane = BytesField(4, VarintField(4, 1));
  const std::string bad_lane = BytesField(4, "\x08");
  const auto parsed =
      ParseDriverMessage(MessageType::kTickSubmit, BytesField(1, lane + lane + bad_lane));
  ExpectRefused(parsed.status(), Status::kProtocolError, "TickSubmit.plan.lanes[2]");
}

// ---- Later versions

TEST(CodecRulesTest, UnknownFieldsAreIgnored) {
  const std::string unknown = VarintField(9, 1) + BytesField(200, "later") + "\x7d" + "four"s;
  const auto parsed =
      ParseDriverMessage(MessageType::kTranscribeCancel, VarintField(1, 5) + unknown);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(std::get<TranscribeCancel>(*parsed).request_seq, 5u);
}

TEST(CodecRulesTest, AStatusOfALaterVersionIsInternal) {
  const auto parsed = ParseWorkerMessage(MessageType::kError, VarintField(1, 9999));
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(std::get<Error>(*parsed).status, Status::kInternal);
}

TEST(CodecRulesTest, AnErrorIsNeverOk) {
  const auto parsed = ParseWorkerMessage(MessageType::kError, "");
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(std::get<Error>(*parsed).status, Status::kInternal);
}

TEST(CodecRulesTest, AnOkResultHasAReply) {
  const auto parsed = ParseWorkerMessage(MessageType::kStateSyncResult, "");
  ExpectRefused(parsed.status(), Status::kInvalidArgument, "StateSyncRes.reply");
}

// ---- Memory

// Half a million empty sub-messages are one MiB on the wire and would be 50 MiB of objects.
TEST(CodecRulesTest, HalfAMillionEmptyPartsCostNothing) {
  const struct {
    MessageType type;
    std::string payload;
  } attacks[] = {
      {MessageType::kTickSubmit, BytesField(1, Repeat("\x22\x00"s, 524288))},
      {MessageType::kStateSyncRequest, BytesField(5, Repeat("\x0a\x00"s, 524288))},
      {MessageType::kStrategyRegister, Repeat("\x2a\x00"s, 524288)},
      {MessageType::kStrategyRegister, Repeat("\x32\x00"s, 524288)},
      {MessageType::kHello, Repeat("\x22\x00"s, 524288)},
      {MessageType::kTelemetry, Repeat("\x0a\x00"s, 524288)},
      {MessageType::kTranscribeCancel, Repeat("\x52\x00"s, 524288)},  // unknown
      {MessageType::kStateSyncRequest, Repeat("\x0a\x00"s, 524288)},  // singular
      {MessageType::kTickSubmit, BytesField(1, BytesField(4, Repeat("\x48\x01"s, 524288)))},
      {MessageType::kTickSubmit,
       BytesField(1, BytesField(4, BytesField(9, std::string(524288, 1))))},
  };
  for (const auto& attack : attacks) {
    (void)ParseDriverMessage(attack.type, "");  // builds the tables of the type
    const AllocationWatch watch;
    const auto parsed = ParseDriverMessage(attack.type, attack.payload);
    EXPECT_EQ(FromAbsl(parsed.status()), Status::kInvalidArgument) << parsed.status();
    EXPECT_LT(watch.Peak(), 64u << 10) << MessageTypeName(attack.type);
  }
}

TEST(CodecRulesTest, PartsAreCountedAcrossTheWholeMessage) {
  // 70000 segments of 50 words each: every list obeys its own limit.
  const std::string segment = BytesField(4, Repeat("\x42\x00"s, 50));
  const std::string payload = BytesField(16, Repeat(segment, 70000));
  (void)ParseWorkerMessage(MessageType::kStateSyncResult, "");
  const AllocationWatch watch;
  const auto parsed = ParseWorkerMessage(MessageType::kStateSyncResult, payload);
  ExpectRefused(parsed.status(), Status::kInvalidArgument, "more than 1000000 parts");
  EXPECT_LT(watch.Peak(), 64u << 10);
}

// ---- What a worker writes can always be read

TEST(CodecRulesTest, AWorkersTextIsMadeUtf8AndCut) {
  Error error;
  error.message = "bad \xff byte" + std::string(100000, 'x');
  const EncodedMessage encoded = Serialize(error);
  EXPECT_LE(encoded.payload.size(), kSmallPayloadLimit);
  const auto parsed = ParseWorkerMessage(encoded.type, encoded.payload);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  const std::string& text = std::get<Error>(*parsed).message;
  EXPECT_EQ(text.size(), 16384u);
  EXPECT_EQ(text.substr(0, 9), "bad \xEF\xBF\xBD b");
}

TEST(CodecRulesTest, ATranscriptOfBadBytesArrives) {
  TranscribeResult transcript;
  transcript.text = "\xff";
  transcript.segments.resize(1);
  transcript.segments[0].text = "\xfe";
  transcript.segments[0].words = {{1, 2, "\xE2\x82", 0.5F}};
  const EncodedMessage encoded =
      Serialize(StateSyncResult{Status::kCancelled, "\xfd", std::move(transcript)});
  const auto parsed = ParseWorkerMessage(encoded.type, encoded.payload);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  const auto& result = std::get<StateSyncResult>(*parsed);
  EXPECT_EQ(result.status, Status::kCancelled);
  EXPECT_EQ(std::get<TranscribeResult>(result.reply).text, "\xEF\xBF\xBD");
}

}  // namespace
}  // namespace superfluid::linkw
