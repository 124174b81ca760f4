// Ticks through a whole worker, in virtual time.

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "tests/actors/generation_fixture.h"

namespace superfluid {
namespace {

using linkw::FinishReason;
using linkw::Status;

class TickTest : public GenerationFixture {
 protected:
  const std::vector<uint32_t> prompt_ = {72, 101, 108, 108, 111};
};

TEST_F(TickTest, PrefillThenDecode) {
  Peer& peer = StartDriver();
  const linkw::SequenceId sequence = Prefill(peer, prompt_);
  const std::vector<uint32_t> tokens = Decode(peer, sequence, 7);
  EXPECT_EQ(tokens.size(), 7);
  std::vector<uint32_t> at_once;
  RunLane(peer, Lane(2, {}, prompt_, 7), &at_once);
  EXPECT_EQ(at_once, tokens) << "prefill and decode in one lane";
}

TEST_F(TickTest, AllEmitsPrecedeTheResultAndSayTheSame) {
  Peer& peer = StartDriver();
  const uint64_t seq = SendTick(peer, {Lane(1, {}, prompt_, 5), Lane(2, {}, {1, 2}, 3)},
                                linkw::kTickFlagPartialEmits);
  Run();
  std::map<linkw::LaneTag, std::vector<uint32_t>> emitted;
  while (peer.received().size() > 1) {
    const auto emit = peer.Expect<linkw::TickEmit>(seq);
    EXPECT_EQ(emit.index, emitted[emit.lane_tag].size());
    EXPECT_EQ(emit.tick_id, 1);
    auto& tokens = emitted[emit.lane_tag];
    tokens.insert(tokens.end(), emit.tokens.begin(), emit.tokens.end());
  }
  const auto result = peer.Expect<linkw::TickResult>(seq);
  ASSERT_EQ(result.events.lanes.size(), 2);
  for (const linkw::LaneEvent& lane : result.events.lanes) {
    EXPECT_EQ(ReadOut(lane.out), emitted[lane.lane_tag]);
  }
  EXPECT_EQ(result.events.dropped_emits, 0);
}

// A peer that does not read loses emits, never results, and is told how many.
TEST_F(TickTest, EmitsThatAreDroppedAreCounted) {
  Start();
  Peer& peer = NextDriver(/*capacity_bytes=*/64 << 10);
  std::vector<uint64_t> ticks;
  for (uint64_t i = 0; i < 12; ++i) {
    ticks.push_back(SendTick(peer, {Lane(i, {}, prompt_, 1024)}, linkw::kTickFlagPartialEmits));
  }
  RunSome(1'000'000);  // nobody reads
  ReadAll();
  Run();
  std::map<uint64_t, size_t> emitted;
  std::map<uint64_t, size_t> dropped;
  while (!peer.empty()) {
    const Received received = peer.Take();
    if (const auto* emit = std::get_if<linkw::TickEmit>(&received.message)) {
      EXPECT_FALSE(dropped.contains(received.correlation)) << "an emit after its result";
      emitted[received.correlation] += emit->tokens.size();
    } else {
      const auto& result = std::get<linkw::TickResult>(received.message);
      dropped[received.correlation] = result.events.dropped_emits;
      EXPECT_EQ(result.events.lanes.at(0).out.count, 1024u);
    }
  }
  size_t all_dropped = 0;
  for (const uint64_t tick : ticks) {
    ASSERT_TRUE(dropped.contains(tick)) << "a result is never dropped";
    EXPECT_EQ(emitted[tick] + dropped[tick], 1024u);  // sim emits a token at a time
    all_dropped += dropped[tick];
  }
  EXPECT_GT(all_dropped, 0u);
}

TEST_F(TickTest, TwoHundredAndFiftySixLanes) {
  Peer& peer = StartDriver();
  std::vector<linkw::Lane> lanes;
  for (uint64_t i = 0; i < 256; ++i) {
    lanes.push_back(Lane(i, {}, {}, 2));
    lanes.back().input = i % 64 == 0 ? Write({static_cast<uint32_t>(i / 64)}) : lanes[i - 1].input;
  }
  const uint64_t seq = SendTick(peer, lanes);
  Run();
  const auto result = peer.Expect<linkw::TickResult>(seq);
  ASSERT_EQ(result.events.lanes.size(), 256) << result.message;
  std::set<uint32_t> slots;
  std::set<uint32_t> offsets;
  for (const linkw::LaneEvent& lane : result.events.lanes) {
    EXPECT_EQ(lane.status, Status::kOk) << lane.message;
    slots.insert(lane.out.slot);
    offsets.insert(lane.out.offset);
  }
  EXPECT_EQ(slots.size(), 1) << "512 tokens fit into one slot";
  EXPECT_EQ(offsets.size(), 256);
}

TEST_F(TickTest, ATickBeforeTheRingsIsRefusedAndTheLinkStays) {
  Start();
  Peer& peer = ConnectDriver();
  const uint64_t tick = peer.Send(linkw::TickSubmit{});
  const uint64_t match = peer.Send(linkw::MatchRequest{});
  const uint64_t ping = peer.Send(linkw::Ping{});
  Run();
  EXPECT_EQ(peer.Expect<linkw::TickResult>(tick).status, Status::kFailedPrecondition);
  EXPECT_EQ(peer.Expect<linkw::MatchResult>(match).status, Status::kFailedPrecondition);
  peer.Expect<linkw::Pong>(ping);
}

TEST_F(TickTest, AStopBitEndsItsLaneAndNoOther) {
  engine_options = {{"token_us", "1000"}};
  Peer& peer = StartDriver();
  linkw::Lane stopped = Lane(1, {}, prompt_, 100);
  stopped.stop_slot = 3;
  linkw::Lane other = Lane(2, {}, prompt_, 100);
  other.stop_slot = 4;
  int draws = 0;
  clock_->inside_step = [this, &draws] {
    if (++draws != 20) return;
    EXPECT_TRUE(control_->SetLaneStop(2, true).ok());
  };
  const uint64_t seq = SendTick(peer, {stopped, other});
  Run();
  const auto result = peer.Expect<linkw::TickResult>(seq);
  ASSERT_EQ(result.events.lanes.size(), 2);
  EXPECT_EQ(result.status, Status::kOk);
  EXPECT_EQ(result.events.lanes[0].finish_reason, FinishReason::kStopped);
  EXPECT_LT(result.events.lanes[0].out.count, 30u);
  EXPECT_EQ(result.events.lanes[1].finish_reason, FinishReason::kNotFinished);
  EXPECT_EQ(result.events.lanes[1].out.count, 100u);
}

// Each draw is a sign of life: what is long is not stuck.
TEST_F(TickTest, ALongTickIsNoStall) {
  engine_options = {{"token_us", "100000"}};
  config.engine_stall = absl::Milliseconds(500);
  config.engine_kill = absl::Seconds(1);
  Peer& peer = StartDriver();
  int64_t oldest_ns = 0;
  clock_->inside_step = [&] {
    const auto now = std::chrono::duration_cast<std::chrono::nanoseconds>(
                         scheduler().clock().now().time_since_epoch())
                         .count();
    oldest_ns = std::max(oldest_ns, progress_->StepAgeNs(now));
  };
  const uint64_t tick = SendTick(peer, {Lane(1, {}, prompt_, 100)});
  Run();
  Advance(absl::Seconds(1));
  EXPECT_EQ(peer.Expect<linkw::TickResult>(tick).status, Status::kOk);
  EXPECT_LT(oldest_ns, 500'000'000) << "of ten seconds";
  EXPECT_TRUE(stuck_.empty());
}

TEST_F(TickTest, TheHeartbeatNamesTheTick) {
  Peer& peer = StartDriver();
  Prefill(peer, prompt_);
  EXPECT_EQ(control_->ReadHeartbeat()->tick_id, 1);
  Prefill(peer, prompt_);
  EXPECT_EQ(control_->ReadHeartbeat()->tick_id, 2);
  EXPECT_GT(control_->ReadHeartbeat()->monotonic_ns, 0u);
}

TEST_F(TickTest, ATranscriptionAndTicksShareTheEngineInTurns) {
  engine_options.emplace_back("tick_us", "10000");
  Peer& peer = StartDriver();
  const linkw::SequenceId sequence = Prefill(peer, prompt_);
  const uint64_t transcription = SendTranscription(peer, 500);
  RunSome(60);  // the engine has it
  std::vector<uint64_t> ticks;
  ticks.reserve(10);
  for (int i = 0; i < 10; ++i) ticks.push_back(SendTick(peer, {Lane(1, sequence, {}, 1)}));
  Run();
  // The ticks came all at once, and still the transcription had its share between them: it takes 25
  // steps of 2 ms, and has a segment after each five.
  std::string order;
  for (const Received& received : peer.received()) {
    order += received.correlation == transcription ? 's' : 't';
  }
  EXPECT_LT(order.rfind('s'), order.rfind('t')) << order << ": 50 ms of work, beside 100 ms";
  EXPECT_EQ(order.find("tttt"), order.rfind('s') + 1) << order << ": in turns, then the rest";
}

TEST_F(TickTest, WhatALinkMadeIsGoneWithIt) {
  Peer& peer = StartDriver();
  const linkw::SequenceId sequence = Prefill(peer, std::vector<uint32_t>(100, 7));
  EXPECT_GT(Memory(peer).pool_blocks_used, 0u);
  peer.HangUp();
  Run();
  Peer& next = NextDriver();
  EXPECT_EQ(Memory(next).pool_blocks_used, 0u);
  EXPECT_EQ(CallAny(next, linkw::FreeSequence{sequence}).status, Status::kUnknownHandle);
}

TEST_F(TickTest, WhatWasPublishedOutlivesTheLink) {
  Peer& peer = StartDriver();
  const std::vector<uint32_t> prompt(64, 7);
  const linkw::SequenceId sequence = Prefill(peer, prompt);
  Call<linkw::PublishSequenceResult>(
      peer, linkw::PublishSequence{.sequence = sequence, .span = Write(prompt)});
  peer.HangUp();
  Run();
  Peer& next = NextDriver();
  const uint64_t match = next.Send(linkw::MatchRequest{.span = Write(prompt)});
  Run();
  const auto result = next.Expect<linkw::MatchResult>(match);
  EXPECT_EQ(result.status, Status::kOk) << result.message;
  ASSERT_FALSE(result.spaces.empty());
  EXPECT_EQ(result.spaces[0].matched_tokens, 64u);
}

TEST_F(TickTest, ASpeechRequestCannotBeHitByALanesCancelNorTheOtherWayRound) {
  Peer& peer = StartDriver();
  const uint64_t transcription = SendTranscription(peer, 300);
  const uint64_t tick = SendTick(peer, {Lane(1, {}, prompt_, 3)});
  peer.Send(linkw::TranscribeCancel{tick});  // names no transcription
  Run();
  std::map<uint64_t, Status> finals;
  for (const Received& received : peer.received()) {
    if (const auto* result = std::get_if<linkw::TickResult>(&received.message)) {
      finals[received.correlation] = result->status;
    } else if (const auto* answer = std::get_if<linkw::StateSyncResult>(&received.message)) {
      finals[received.correlation] = answer->status;
    }
  }
  EXPECT_EQ(finals,
            (std::map<uint64_t, Status>{{transcription, Status::kOk}, {tick, Status::kOk}}));
}

TEST_F(TickTest, TelemetryComesToWhoeverWantsIt) {
  Peer& peer = StartDriver();
  Peer& observer = Connect(false);
  linkw::Hello hello;
  hello.client_name = "observer";
  hello.role = linkw::Role::kObserver;
  hello.features = {"telemetry"};
  observer.Send(hello);
  RunLane(peer, Lane(1, {}, prompt_, 4));
  observer.received().clear();
  Advance(absl::Milliseconds(1100));
  const auto telemetry = observer.Expect<linkw::Telemetry>(0);
  std::map<std::string, uint64_t> counters;
  for (const auto& counter : telemetry.counters) counters[counter.name] = counter.value;
  EXPECT_EQ(counters["ticks.done"], 1u);
  EXPECT_EQ(counters["ticks.tokens_in"], prompt_.size());
  EXPECT_EQ(counters["ticks.tokens_out"], 4u);
  EXPECT_EQ(counters["lanes.active"], 1u);
  EXPECT_TRUE(peer.empty()) << "the driver did not ask for it";
}

}  // namespace
}  // namespace superfluid
