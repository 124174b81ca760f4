// What every message has in common: whatever a payload says comes out again after a way through the
// plain struct, for every field of the schema and random contents.

#include <cstdint>
#include <string>

#include "gtest/gtest.h"
#include "protocol/codec/codec.h"
#include "protocol/linkw.pb.h"
#include "tests/protocol/random_proto.h"
#include "tests/protocol/seed_of_test.h"

namespace superfluid::linkw {
namespace {

// The few rules that span several fields, and values that read as others.
void Settle(v8::StateSyncReq& message) {
  if (!message.has_create_logit_bias()) return;
  v8::CreateLogitBias& call = *message.mutable_create_logit_bias();
  call.mutable_values()->Resize(call.tokens_size(), 0.5F);
}
void Settle(v8::Hello& message) {
  message.mutable_proto_versions()->set_min(message.proto_versions().min() & 0xffff);
  message.mutable_proto_versions()->set_max(message.proto_versions().max() & 0xffff);
}
void Settle(v8::HelloAckW& message) {
  message.set_chosen_version(message.chosen_version() & 0xffff);
}
void Settle(v8::Error& message) {
  if (message.status() == v8::OK) message.set_status(v8::BUSY);
}
void Settle(google::protobuf::Message& /*message*/) {}

struct ToWorker {
  static absl::StatusOr<DriverMessage> Parse(MessageType type, const std::string& payload) {
    return ParseDriverMessage(type, payload);
  }
};
struct ToDaemon {
  static absl::StatusOr<WorkerMessage> Parse(MessageType type, const std::string& payload) {
    return ParseWorkerMessage(type, payload);
  }
};

template <typename Reader, typename Proto>
void CheckRoundTrips(MessageType type) {
  const uint64_t seed = SeedOfTest();
  SCOPED_TRACE(testing::Message() << MessageTypeName(type) << ": LINKW_SEED=" << seed);
  RandomProto random(seed);
  for (int i = 0; i < 300; ++i) {
    Proto proto;
    random.Fill(proto);
    Settle(proto);
    const std::string payload = proto.SerializeAsString();
    const auto message = Reader::Parse(type, payload);
    ASSERT_TRUE(message.ok()) << message.status() << "\n" << proto.ShortDebugString();
    EXPECT_EQ(TypeOf(*message), type);
    const EncodedMessage again = Serialize(*message);
    EXPECT_EQ(again.type, type);
    if (again.payload != payload) {
      Proto other;
      EXPECT_TRUE(other.ParseFromString(again.payload));
      FAIL() << "sent: " << proto.ShortDebugString() << "\ncame: " << other.ShortDebugString();
    }
    const auto twice = Reader::Parse(type, again.payload);
    ASSERT_TRUE(twice.ok());
    EXPECT_TRUE(*twice == *message);
  }
}

TEST(RoundTripTest, Hello) { CheckRoundTrips<ToWorker, v8::Hello>(MessageType::kHello); }
TEST(RoundTripTest, HelloAck) { CheckRoundTrips<ToDaemon, v8::HelloAckW>(MessageType::kHelloAck); }
TEST(RoundTripTest, Error) { CheckRoundTrips<ToDaemon, v8::Error>(MessageType::kError); }
TEST(RoundTripTest, RingAttach) {
  CheckRoundTrips<ToWorker, v8::RingAttach>(MessageType::kRingAttach);
}
TEST(RoundTripTest, RingAck) { CheckRoundTrips<ToDaemon, v8::RingAck>(MessageType::kRingAck); }
TEST(RoundTripTest, ControlAttach) {
  CheckRoundTrips<ToWorker, v8::ControlAttach>(MessageType::kControlAttach);
}
TEST(RoundTripTest, ControlAck) {
  CheckRoundTrips<ToDaemon, v8::ControlAck>(MessageType::kControlAck);
}
TEST(RoundTripTest, TickSubmit) {
  CheckRoundTrips<ToWorker, v8::TickSubmit>(MessageType::kTickSubmit);
}
TEST(RoundTripTest, TickResult) {
  CheckRoundTrips<ToDaemon, v8::TickResult>(MessageType::kTickResult);
}
TEST(RoundTripTest, TickEmit) { CheckRoundTrips<ToDaemon, v8::TickEmit>(MessageType::kTickEmit); }
TEST(RoundTripTest, MatchReq) {
  CheckRoundTrips<ToWorker, v8::MatchReq>(MessageType::kMatchRequest);
}
TEST(RoundTripTest, MatchRes) {
  CheckRoundTrips<ToDaemon, v8::MatchRes>(MessageType::kMatchResult);
}
TEST(RoundTripTest, SeedAcquire) {
  CheckRoundTrips<ToWorker, v8::SeedAcquire>(MessageType::kSeedAcquire);
}
TEST(RoundTripTest, SeedGrant) {
  CheckRoundTrips<ToDaemon, v8::SeedGrant>(MessageType::kSeedGrant);
}
TEST(RoundTripTest, SeedRelease) {
  CheckRoundTrips<ToWorker, v8::SeedRelease>(MessageType::kSeedRelease);
}
TEST(RoundTripTest, StateOpSubmit) {
  CheckRoundTrips<ToWorker, v8::StateOpSubmit>(MessageType::kStateOpSubmit);
}
TEST(RoundTripTest, StateOpAccepted) {
  CheckRoundTrips<ToDaemon, v8::StateOpAccepted>(MessageType::kStateOpAccepted);
}
TEST(RoundTripTest, StateOpDone) {
  CheckRoundTrips<ToDaemon, v8::StateOpDone>(MessageType::kStateOpDone);
}
TEST(RoundTripTest, OpCancel) { CheckRoundTrips<ToWorker, v8::OpCancel>(MessageType::kOpCancel); }
TEST(RoundTripTest, StateSyncReq) {
  for (int i = 0; i < 5; ++i) {
    CheckRoundTrips<ToWorker, v8::StateSyncReq>(MessageType::kStateSyncRequest);
  }
}
TEST(RoundTripTest, StateSyncRes) {
  for (int i = 0; i < 5; ++i) {
    CheckRoundTrips<ToDaemon, v8::StateSyncRes>(MessageType::kStateSyncResult);
  }
}
TEST(RoundTripTest, TranscribeSegment) {
  CheckRoundTrips<ToDaemon, v8::TranscribeSegment>(MessageType::kTranscribeSegment);
}
TEST(RoundTripTest, TranscribeProgress) {
  CheckRoundTrips<ToDaemon, v8::TranscribeProgress>(MessageType::kTranscribeProgress);
}
TEST(RoundTripTest, TranscribeCancel) {
  CheckRoundTrips<ToWorker, v8::TranscribeCancel>(MessageType::kTranscribeCancel);
}
TEST(RoundTripTest, TranscribeAudio) {
  CheckRoundTrips<ToWorker, v8::TranscribeAudio>(MessageType::kTranscribeAudio);
}
TEST(RoundTripTest, StrategyRegister) {
  CheckRoundTrips<ToWorker, v8::StrategyRegister>(MessageType::kStrategyRegister);
}
TEST(RoundTripTest, StrategyGrant) {
  CheckRoundTrips<ToDaemon, v8::StrategyGrant>(MessageType::kStrategyGrant);
}
TEST(RoundTripTest, BufAlloc) { CheckRoundTrips<ToWorker, v8::BufAlloc>(MessageType::kBufAlloc); }
TEST(RoundTripTest, BufAlloced) {
  CheckRoundTrips<ToDaemon, v8::BufAlloced>(MessageType::kBufAlloced);
}
TEST(RoundTripTest, BufAttach) {
  CheckRoundTrips<ToWorker, v8::BufAttach>(MessageType::kBufAttach);
}
TEST(RoundTripTest, BufRelease) {
  CheckRoundTrips<ToWorker, v8::BufRelease>(MessageType::kBufRelease);
}
TEST(RoundTripTest, Ping) { CheckRoundTrips<ToWorker, v8::Ping>(MessageType::kPing); }
TEST(RoundTripTest, Pong) { CheckRoundTrips<ToDaemon, v8::Pong>(MessageType::kPong); }
TEST(RoundTripTest, DrainReq) {
  CheckRoundTrips<ToWorker, v8::DrainReq>(MessageType::kDrainRequest);
}
TEST(RoundTripTest, Drained) { CheckRoundTrips<ToDaemon, v8::Drained>(MessageType::kDrained); }
TEST(RoundTripTest, Telemetry) {
  CheckRoundTrips<ToWorker, v8::Telemetry>(MessageType::kTelemetry);
  CheckRoundTrips<ToDaemon, v8::Telemetry>(MessageType::kTelemetry);
}

TEST(PresenceTest, ALaneWithoutLogitsHasNone) {
  TickResult result;
  result.events.lanes.resize(2);
  result.events.lanes[1].logits = {.ring_id = kLogitsRing, .slot = 0, .generation = 2, .count = 4};
  v8::TickResult proto;
  ASSERT_TRUE(proto.ParseFromString(Serialize(WorkerMessage(result)).payload));
  EXPECT_FALSE(proto.events().lanes(0).has_logits());
  EXPECT_TRUE(proto.events().lanes(1).has_logits());
}

}  // namespace
}  // namespace superfluid::linkw
