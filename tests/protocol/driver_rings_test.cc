#include "protocol/driver/driver_rings.h"

#include <bit>
#include <limits>
#include <numeric>
#include <vector>

#include "gtest/gtest.h"
#include "protocol/driver/slot_packer.h"
#include "tests/protocol/driver_fixture.h"

namespace superfluid::linkw {
namespace {

class DriverRingsTest : public DriverTest {
 protected:
  // What the worker sees through a span.
  std::vector<Token> Seen(const TokenSpan& span) {
    std::vector<Token> tokens(span.count);
    const auto flags = in_->Read(
        {static_cast<uint32_t>(span.ring_id), span.slot, span.generation, span.offset, span.count},
        absl::MakeSpan(tokens));
    if (!flags.ok()) return {};
    return tokens;
  }

  TokenSpan Out(RingWriter& ring, uint32_t slot, const std::vector<uint32_t>& words) {
    const SpanRef ref = *ring.Write(slot, words, 0);
    return {RingId{ref.ring}, ref.slot, ref.generation, ref.offset, ref.count};
  }
};

std::vector<Token> Tokens(size_t count, Token first = 1) {
  std::vector<Token> tokens(count);
  std::iota(tokens.begin(), tokens.end(), first);
  return tokens;
}

// ---- Attaching

TEST_F(DriverRingsTest, AttachesWhatTheWorkerAnnounced) {
  Connect({}, HelloAckWithRings());
  AttachRings();
  EXPECT_EQ(rings_->max_input_tokens(), 4096u);
}

TEST_F(DriverRingsTest, AttachNeedsAnFdsConnection) {
  auto [ours, theirs] = MakeSocketPair();
  worker_.emplace(std::move(theirs));
  auto client = std::async(std::launch::async,
                           [fd = ours.Release()] { return LinkClient::Adopt(fd, -1, {}); });
  uint64_t seq = 0;
  worker_->Expect<Hello>(&seq);
  worker_->Send(seq, HelloAckWithRings());
  ExpectError(DriverRings::Attach(**client.get()).status(), Status::kFailedPrecondition,
              "no fds connection");
}

TEST_F(DriverRingsTest, AttachNeedsTheRingsAnnounced) {
  Connect();
  auto attached = StartAttach();
  AnswerControlAttach();
  ExpectError(attached.get().status(), Status::kFailedPrecondition, "announced no ring 1");
}

TEST_F(DriverRingsTest, AttachRefusesARingOfImpossibleSize) {
  for (const uint32_t slots : {0u, std::numeric_limits<uint32_t>::max()}) {
    HelloAck ack = HelloAckWithRings();
    ack.limits.ring_specs[0].slots = slots;
    Connect({}, ack);
    auto attached = StartAttach();
    AnswerControlAttach();
    ExpectError(attached.get().status(), Status::kFailedPrecondition, "an impossible ring 1");
  }
}

TEST_F(DriverRingsTest, AttachGivesTheWorkersReason) {
  Connect({}, HelloAckWithRings());
  auto attached = StartAttach();
  uint64_t seq = 0;
  worker_->Expect<ControlAttach>(&seq);
  worker_->Send(seq, Error{Status::kInvalidArgument, "another layout", "type 0x0012", false});
  ExpectError(attached.get().status(), Status::kInvalidArgument, "another layout (type 0x0012)");
}

TEST_F(DriverRingsTest, AttachRefusesAnAnswerOfAnotherType) {
  Connect({}, HelloAckWithRings());
  auto attached = StartAttach();
  uint64_t seq = 0;
  worker_->Expect<ControlAttach>(&seq);
  worker_->Send(seq, Pong{});
  ExpectError(attached.get().status(), Status::kInternal, "PONG");
}

// ---- Writing

TEST_F(DriverRingsTest, TheWorkerReadsWhatIsWritten) {
  Connect({}, HelloAckWithRings());
  AttachRings();
  const auto span = rings_->WriteTokens(Tokens(4096));
  ASSERT_TRUE(span.ok()) << span.status();
  EXPECT_EQ(span->ring_id, linkw::kTokenInRing);
  EXPECT_EQ(Seen(*span), Tokens(4096));
}

TEST_F(DriverRingsTest, NoTokensAreAnEmptySpan) {
  Connect({}, HelloAckWithRings());
  AttachRings();
  EXPECT_EQ(*rings_->WriteTokens({}), TokenSpan{});
  EXPECT_EQ(*rings_->WriteTokens({}), TokenSpan{});
  EXPECT_EQ(rings_->WriteTokens(Tokens(1))->slot, 0u) << "they use no slot";
}

TEST_F(DriverRingsTest, SlotsAreUsedRoundRobin) {
  Connect({}, HelloAckWithRings());
  AttachRings();
  std::vector<TokenSpan> spans;
  for (uint32_t i = 0; i < 64; ++i) spans.push_back(*rings_->WriteTokens(Tokens(3, i)));
  for (uint32_t i = 0; i < 64; ++i) EXPECT_EQ(Seen(spans[i]), Tokens(3, i));
  EXPECT_EQ(rings_->WriteTokens(Tokens(1))->slot, spans[0].slot);
  EXPECT_EQ(Seen(spans[0]), std::vector<Token>()) << "it is stale now";
  EXPECT_EQ(Seen(spans[1]), Tokens(3, 1));
}

TEST_F(DriverRingsTest, RefusesAnInputThatIsLongerThanASlot) {
  Connect({}, HelloAckWithRings());
  AttachRings();
  ExpectError(rings_->WriteTokens(Tokens(4097)).status(), Status::kInvalidArgument, "in chunks");
}

TEST_F(DriverRingsTest, TheInputsOfATickDoNotOverwriteEachOther) {
  Connect({}, HelloAckWithRings());
  AttachRings();
  std::vector<std::vector<Token>> inputs;
  for (uint32_t i = 0; i < 256; ++i) inputs.push_back(Tokens(i % 1000, i));
  const std::vector<absl::Span<const Token>> views(inputs.begin(), inputs.end());
  const auto spans = rings_->WriteInputs(views);
  ASSERT_TRUE(spans.ok()) << spans.status();
  ASSERT_EQ(spans->size(), inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) EXPECT_EQ(Seen((*spans)[i]), inputs[i]) << i;
}

TEST_F(DriverRingsTest, LanesWithOnePromptShareIt) {
  Connect({}, HelloAckWithRings());
  AttachRings();
  const std::vector<Token> prompt = Tokens(4096);
  const std::vector<absl::Span<const Token>> views(256, prompt);
  const auto spans = rings_->WriteInputs(views);
  ASSERT_TRUE(spans.ok()) << spans.status();
  for (const TokenSpan& span : *spans) EXPECT_EQ(span, spans->front());
}

TEST_F(DriverRingsTest, RefusesATickThatTheRingCannotHold) {
  Connect({}, HelloAckWithRings());
  AttachRings();
  std::vector<std::vector<Token>> inputs(65, Tokens(4096));
  const std::vector<absl::Span<const Token>> views(inputs.begin(), inputs.end());
  const absl::Status status = rings_->WriteInputs(views).status();
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
}

// ---- Reading

TEST_F(DriverRingsTest, ReadsWhatTheWorkerDrew) {
  Connect({}, HelloAckWithRings());
  AttachRings();
  EXPECT_EQ(*rings_->ReadTokens(Out(*out_, 7, {1, 2, 3})), (std::vector<Token>{1, 2, 3}));
  EXPECT_EQ(*rings_->ReadTokens(TokenSpan{}), std::vector<Token>());
}

TEST_F(DriverRingsTest, AStaleSpanIsRefused) {
  Connect({}, HelloAckWithRings());
  AttachRings();
  const TokenSpan span = Out(*out_, 7, {1, 2, 3});
  Out(*out_, 7, {4, 5, 6});
  ExpectError(rings_->ReadTokens(span).status(), Status::kRejectBadRefGeneration, "slot 7");
}

TEST_F(DriverRingsTest, ASpanThatIsNoneIsRefused) {
  Connect({}, HelloAckWithRings());
  AttachRings();
  const TokenSpan good = Out(*out_, 7, {1, 2, 3});
  TokenSpan bad = good;
  bad.count = std::numeric_limits<uint32_t>::max();
  EXPECT_TRUE(absl::IsOutOfRange(rings_->ReadTokens(bad).status()));
  bad = good;
  bad.slot = 256;
  EXPECT_TRUE(absl::IsOutOfRange(rings_->ReadTokens(bad).status()));
  bad = good;
  bad.offset = 1;
  EXPECT_TRUE(absl::IsOutOfRange(rings_->ReadTokens(bad).status()));
  bad = good;
  bad.ring_id = RingId{3};
  EXPECT_TRUE(absl::IsInvalidArgument(rings_->ReadTokens(bad).status()));
}

TEST_F(DriverRingsTest, ReadsLogitsAsPairs) {
  Connect({}, HelloAckWithRings());
  AttachRings();
  const TokenSpan span =
      Out(*logits_, 3, {11, std::bit_cast<uint32_t>(1.5f), 12, std::bit_cast<uint32_t>(-2.f)});
  EXPECT_EQ(*rings_->ReadLogits(span), (std::vector<TokenLogit>{{11, 1.5f}, {12, -2.f}}));
  EXPECT_EQ(*rings_->ReadLogits(TokenSpan{}), std::vector<TokenLogit>());
}

TEST_F(DriverRingsTest, AnOddNumberOfLogitWordsIsRefused) {
  Connect({}, HelloAckWithRings());
  AttachRings();
  EXPECT_TRUE(absl::IsInvalidArgument(rings_->ReadLogits(Out(*logits_, 3, {1, 2, 3})).status()));
}

// ---- Control

TEST_F(DriverRingsTest, StopsALane) {
  Connect({}, HelloAckWithRings());
  AttachRings();
  for (const uint32_t slot : {1u, 64u, 65u, 256u}) {
    EXPECT_FALSE(control_->LaneStopped(slot - 1));
    EXPECT_TRUE(rings_->SetLaneStop(slot, true).ok());
    EXPECT_TRUE(control_->LaneStopped(slot - 1));
    EXPECT_TRUE(rings_->SetLaneStop(slot, false).ok());
    EXPECT_FALSE(control_->LaneStopped(slot - 1));
  }
  EXPECT_TRUE(absl::IsOutOfRange(rings_->SetLaneStop(0, true)));
  EXPECT_TRUE(absl::IsOutOfRange(rings_->SetLaneStop(257, true)));
}

TEST_F(DriverRingsTest, SeesTheHeartbeat) {
  Connect({}, HelloAckWithRings());
  AttachRings();
  EXPECT_EQ(*rings_->ReadHeartbeat(), Heartbeat{});
  control_->Beat({5, 77});
  EXPECT_EQ(*rings_->ReadHeartbeat(), (Heartbeat{5, 77}));
}

}  // namespace
}  // namespace superfluid::linkw
