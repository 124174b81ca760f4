// Requests that wait while the engine is inside a long step: how they end, and what can be seen of
// them; a whole worker in virtual time.

#include <chrono>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/actors/engine_step_fixture.h"

namespace superfluid {
namespace {

using linkw::Status;

using WaitingRequestTest = EngineStepFixture;

// ---- Waiting requests end in time ----

TEST_F(WaitingRequestTest, AWaitingTickEndsAtItsDeadlineWhileAnotherRuns) {
  engine_options = {{"tick_us", "2000000"}};
  Peer& peer = StartDriver();
  const uint64_t running = SendTick(peer, {Lane(1, {}, {1}, 0)});
  uint64_t waiting = 0;
  InsideNextStep([&] {
    waiting = SendTick(peer, {Lane(2, {}, {1}, 0)}, 0, /*deadline_us=*/50'000);
    RunBesideTheStep();
    EXPECT_TRUE(peer.empty());
    LetTimePassInsideTheStep(absl::Milliseconds(51));
    ASSERT_EQ(peer.received().size(), 1u) << "the running tick takes two seconds";
    const auto result = peer.Expect<linkw::TickResult>(waiting);
    EXPECT_EQ(result.status, Status::kDeadlineExceeded);
    EXPECT_FALSE(result.message.empty());
    EXPECT_TRUE(result.events.lanes.empty()) << "it never ran";
    const uint64_t ping = peer.Send(linkw::Ping{});
    RunBesideTheStep();
    EXPECT_EQ(peer.Expect<linkw::Pong>(ping).queue_depth, 0u);
  });
  Run();
  EXPECT_EQ(peer.Expect<linkw::TickResult>(running).status, Status::kOk);
  EXPECT_TRUE(peer.empty()) << "a second answer";
  EXPECT_EQ(control_->ReadHeartbeat()->tick_id, 2u) << "each tick has its heartbeat";
  EXPECT_EQ(progress_->cancels(), 1u);
  const uint64_t next = SendTick(peer, {Lane(2, {}, {1}, 0)});
  Run();
  EXPECT_EQ(peer.Expect<linkw::TickResult>(next).status, Status::kOk) << "its lane is free";
}

TEST_F(WaitingRequestTest, ATicksDeadlineAtAnyMomentGivesExactlyOneAnswer) {
  engine_options = {{"tick_us", "10000"}};
  Peer& peer = StartDriver();
  std::map<Status, int> seen;
  for (size_t moment = 0; moment < 200; ++moment) {
    random_order = moment % 2 == 1;
    schedule.seed(static_cast<uint32_t>(moment) + 1);
    const uint64_t first = SendTick(peer, {Lane(1, {}, {1}, 0)}, 0, /*deadline_us=*/5000);
    const uint64_t second = SendTick(peer, {Lane(2, {}, {1}, 0)}, 0, /*deadline_us=*/5000);
    RunSome(moment / 2);
    scheduler().advance_time(std::chrono::milliseconds(6));
    Run();
    Advance(absl::Milliseconds(20));
    for (const uint64_t tick : {first, second}) {
      EXPECT_EQ(PlacesOf(peer, tick).size(), 1u) << "at moment " << moment;
      if (const auto* result = AnswerTo<linkw::TickResult>(peer, tick)) ++seen[result->status];
    }
    peer.received().clear();
  }
  EXPECT_GT(seen[Status::kOk], 10);
  EXPECT_GT(seen[Status::kDeadlineExceeded], 10);
  EXPECT_EQ(seen.size(), 2u);
}

TEST_F(WaitingRequestTest, AWaitingTranscriptionEndsWhileTheEngineIsInALongStep) {
  engine_options.emplace_back("tick_us", "2000000");
  Peer& peer = StartDriver();
  const uint64_t running = SendTick(peer, {Lane(1, {}, {1}, 0)});
  InsideNextStep([&] {
    const uint64_t cancelled = SendTranscription(peer, 500);
    const uint64_t late = SendTranscription(peer, 500, /*deadline_ms=*/50);
    RunBesideTheStep();
    peer.Send(linkw::TranscribeCancel{cancelled});
    RunBesideTheStep();
    EXPECT_EQ(peer.Expect<linkw::StateSyncResult>(cancelled).status, Status::kCancelled);
    LetTimePassInsideTheStep(absl::Milliseconds(51));
    EXPECT_EQ(peer.Expect<linkw::StateSyncResult>(late).status, Status::kDeadlineExceeded);
  });
  Run();
  EXPECT_EQ(peer.Expect<linkw::TickResult>(running).status, Status::kOk);
  EXPECT_TRUE(peer.empty()) << "a second answer";
  EXPECT_EQ(progress_->jobs_started(), 0u);
  EXPECT_EQ(progress_->transcriptions_done(), 2u);
}

TEST_F(WaitingRequestTest, ADrainsDeadlineEndsWaitingTicksWhileAnotherRuns) {
  engine_options = {{"tick_us", "2000000"}};
  Peer& peer = StartDriver();
  const uint64_t running = SendTick(peer, {Lane(1, {}, {1}, 0)});
  uint64_t drain = 0;
  InsideNextStep([&] {
    const uint64_t waiting = SendTick(peer, {Lane(2, {}, {1}, 0)});
    const uint64_t another = SendTick(peer, {Lane(3, {}, {1}, 0)});
    drain = peer.Send(linkw::DrainRequest{.deadline_ms = 50});
    RunBesideTheStep();
    LetTimePassInsideTheStep(absl::Milliseconds(51));
    EXPECT_EQ(peer.Expect<linkw::TickResult>(waiting).status, Status::kCancelled);
    EXPECT_EQ(peer.Expect<linkw::TickResult>(another).status, Status::kCancelled);
  });
  Run();
  peer.Expect<linkw::TickResult>(running);
  const auto drained = peer.Expect<linkw::Drained>(drain);
  EXPECT_EQ(drained.finished + drained.cancelled, 3u);
  EXPECT_GE(drained.cancelled, 2u);
}

TEST_F(WaitingRequestTest, TicksThatEndWhileTheyWaitAreBoundedUntilTheEngineLetsGoOfThem) {
  config.limits.max_open_requests = 8;
  engine_options = {{"tick_us", "2000000"}};
  Peer& peer = StartDriver();
  const uint64_t running = SendTick(peer, {Lane(1, {}, {1}, 0)});
  std::map<Status, int> seen;
  InsideNextStep([&] {
    for (uint64_t i = 0; i < 40; ++i) {
      const uint64_t tick = SendTick(peer, {Lane(2 + i, {}, {1}, 0)}, 0, /*deadline_us=*/1);
      RunBesideTheStep();
      LetTimePassInsideTheStep(absl::Milliseconds(1));
      ++seen[peer.Expect<linkw::TickResult>(tick).status];
    }
  });
  Run();
  peer.Expect<linkw::TickResult>(running);
  EXPECT_EQ(seen, (std::map<Status, int>{{Status::kDeadlineExceeded, 15}, {Status::kBusy, 25}}));
  const uint64_t next = SendTick(peer, {Lane(2, {}, {1}, 0)});
  Run();
  EXPECT_EQ(peer.Expect<linkw::TickResult>(next).status, Status::kOk);
}

// ---- What a PONG says meanwhile ----

TEST_F(WaitingRequestTest, APongTellsTheTruthWhileTheEngineIsInALongStep) {
  engine_options.emplace_back("tick_us", "1000000");
  Peer& peer = StartDriver();
  Peer& observer = ConnectObserver();
  SendTick(peer, {Lane(1, {}, {1}, 0)});
  InsideNextStep([&] {
    std::vector<uint64_t> speech;
    for (int i = 0; i < 10; ++i) speech.push_back(SendTranscription(peer, 500));
    for (uint64_t i = 0; i < 5; ++i) SendTick(peer, {Lane(2 + i, {}, {1}, 0)});
    peer.Send(linkw::StateSyncRequest{linkw::CreateSequence{}});
    for (int i = 0; i < 5; ++i) RunBesideTheStep();
    const uint64_t ping = observer.Send(linkw::Ping{});
    RunBesideTheStep();
    const auto pong = observer.Expect<linkw::Pong>(ping);
    EXPECT_EQ(pong.open_transcriptions, 10u);
    EXPECT_EQ(pong.queue_depth, 16u);
    for (const uint64_t seq : speech) peer.Send(linkw::TranscribeCancel{seq});
    RunBesideTheStep();
    const uint64_t second = observer.Send(linkw::Ping{});
    RunBesideTheStep();
    const auto after = observer.Expect<linkw::Pong>(second);
    EXPECT_EQ(after.open_transcriptions, 0u);
    EXPECT_EQ(after.queue_depth, 6u);
  });
  Run();
  Advance(absl::Milliseconds(5));
  const uint64_t ping = observer.Send(linkw::Ping{});
  Run();
  const auto pong = observer.Expect<linkw::Pong>(ping);
  EXPECT_EQ(pong.open_transcriptions, 0u);
  EXPECT_EQ(pong.queue_depth, 0u);
}

TEST_F(WaitingRequestTest, TheCountOfStepsGrowsInsideALongTick) {
  engine_options = {{"token_us", "20000"}};
  Peer& peer = StartDriver();
  SendTick(peer, {Lane(1, {}, prompt_, 100)});
  std::set<uint64_t> counts;
  clock_->inside_step = [&] { counts.insert(progress_->steps()); };
  Run();
  EXPECT_GT(counts.size(), 50u) << "two seconds of draws";
}

TEST_F(WaitingRequestTest, LanesAreNotActiveHoursLater) {
  Peer& peer = StartDriver();
  Peer& observer = Connect(false);
  linkw::Hello hello;
  hello.client_name = "observer";
  hello.role = linkw::Role::kObserver;
  hello.features = {"telemetry"};
  observer.Send(hello);
  RunLane(peer, Lane(1, {}, prompt_, 4));
  const auto last_counts = [&observer] {
    std::map<std::string, uint64_t> counts;
    const auto& telemetry = std::get<linkw::Telemetry>(observer.received().back().message);
    for (const auto& counter : telemetry.counters) counts[counter.name] = counter.value;
    return counts;
  };
  Advance(absl::Milliseconds(1100));
  EXPECT_EQ(last_counts()["lanes.active"], 1u);
  Advance(absl::Seconds(4));
  EXPECT_EQ(last_counts()["lanes.active"], 0u);
}

// STT-16: spans of buffers cost a peer nothing, and the engine takes none of them for now.
TEST_F(WaitingRequestTest, LiveAudioOutOfBuffersIsBoundedWhileTheEngineIsInALongStep) {
  config.live_audio_bytes = 1 << 20;
  engine_options.emplace_back("tick_us", "2000000");
  Peer& peer = StartDriver();
  AttachBuffer(peer, 1, 900'000);
  const uint64_t running = SendTick(peer, {Lane(1, {}, {1}, 0)});
  uint64_t other = 0;
  InsideNextStep([&] {
    const uint64_t greedy = peer.Send(LiveRequest());
    other = SendTranscription(peer, 500);
    for (int i = 0; i < 2; ++i) {
      peer.Send(linkw::TranscribeAudio{
          .request_seq = greedy,
          .data = linkw::BufferSpan{.buf_id = linkw::BufId{1}, .offset = 0, .length = 900'000}});
    }
    RunBesideTheStep();
    const auto answer = peer.Expect<linkw::StateSyncResult>(greedy);
    EXPECT_EQ(answer.status, Status::kOutOfMemory);
    EXPECT_TRUE(peer.empty());
  });
  Run();
  EXPECT_EQ(peer.Expect<linkw::TickResult>(running).status, Status::kOk);
  EXPECT_EQ(TakeAll(peer, other).status, Status::kOk);
  // What was on its way has gone, and its room is free again.
  const uint64_t next = peer.Send(LiveRequest());
  peer.Send(linkw::TranscribeAudio{
      .request_seq = next,
      .data = linkw::BufferSpan{.buf_id = linkw::BufId{1}, .offset = 0, .length = 900'000},
      .end_of_stream = true});
  Run();
  EXPECT_EQ(TakeAll(peer, next).status, Status::kOk);
}

// ---- What is counted meanwhile ----

// An answered request that the engine still holds is none that a drain finds open (DRAIN-5).
TEST_F(WaitingRequestTest, ADrainCountsNeitherWhatWasAnsweredBeforeNorReleases) {
  engine_options = {{"tick_us", "2000000"}};
  Peer& peer = StartDriver();
  const uint64_t running = SendTick(peer, {Lane(1, {}, {1}, 0)});
  uint64_t drain = 0;
  InsideNextStep([&] {
    const uint64_t late = SendTick(peer, {Lane(2, {}, {1}, 0)}, 0, /*deadline_us=*/1000);
    peer.Send(linkw::SeedRelease{linkw::SeedHandle{7}});
    RunBesideTheStep();
    LetTimePassInsideTheStep(absl::Milliseconds(2));
    EXPECT_EQ(peer.Expect<linkw::TickResult>(late).status, Status::kDeadlineExceeded);
    drain = peer.Send(linkw::DrainRequest{});
    RunBesideTheStep();
  });
  Run();
  EXPECT_EQ(peer.Expect<linkw::TickResult>(running).status, Status::kOk);
  const auto drained = peer.Expect<linkw::Drained>(drain);
  EXPECT_EQ(drained.finished, 1u);
  EXPECT_EQ(drained.cancelled, 0u);
}

// An op that waits is open once, and one that was answered not at all (TEL-2).
TEST_F(WaitingRequestTest, TelemetryCountsEachOpenRequestOnce) {
  engine_options = {{"op_us", "10000000"}};
  Peer& peer = StartDriver();
  Peer& observer = Connect(false);
  linkw::Hello hello;
  hello.role = linkw::Role::kObserver;
  hello.features = {"telemetry"};
  observer.Send(hello);
  const linkw::SequenceId sequence = Prefill(peer, prompt_);
  const linkw::Snapshot snapshot = SnapshotOf(peer, sequence, 0, prompt_.size(), 1);
  for (int i = 0; i < 3; ++i) peer.Send(linkw::StateOpSubmit{snapshot});  // one after the other
  peer.Send(LiveRequest());
  const uint64_t tick = SendTick(peer, {Lane(1, sequence, {}, 1)}, 0, /*deadline_us=*/1000);
  Advance(absl::Milliseconds(1100));
  EXPECT_NE(AnswerTo<linkw::TickResult>(peer, tick), nullptr);
  uint64_t open = 0;
  const auto& telemetry = std::get<linkw::Telemetry>(observer.received().back().message);
  for (const auto& counter : telemetry.counters) {
    if (counter.name == "requests.open") open = counter.value;
  }
  EXPECT_EQ(open, 4u);
}

// ---- Stop bits of ticks that wait ----

TEST_F(WaitingRequestTest, AStopBitOfAWaitingTickTakesEffectWhenItsTurnComes) {
  engine_options = {{"tick_us", "100000"}};
  Peer& peer = StartDriver();
  const uint64_t running = SendTick(peer, {Lane(1, {}, {1}, 0)});
  uint64_t waiting = 0;
  InsideNextStep([&] {
    linkw::Lane lane = Lane(2, {}, prompt_, 50);
    lane.stop_slot = 7;
    waiting = SendTick(peer, {lane});
    RunBesideTheStep();
    ASSERT_TRUE(control_->SetLaneStop(6, true).ok());
  });
  Run();
  peer.Expect<linkw::TickResult>(running);
  const auto result = peer.Expect<linkw::TickResult>(waiting);
  EXPECT_EQ(result.status, Status::kOk);
  ASSERT_EQ(result.events.lanes.size(), 1u);
  EXPECT_EQ(result.events.lanes[0].finish_reason, linkw::FinishReason::kStopped);
  EXPECT_EQ(result.events.lanes[0].out.count, 0u);
  EXPECT_EQ(result.events.lanes[0].position, prompt_.size()) << "its input is appended";
}

}  // namespace
}  // namespace superfluid
