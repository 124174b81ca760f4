// Who runs next, and who waits for whom: a whole worker in virtual time.

#include <fstream>
#include <string>
#include <variant>
#include <vector>

#include "tests/actors/engine_step_fixture.h"

namespace superfluid {
namespace {

using linkw::Status;

using EngineTurnsTest = EngineStepFixture;

// ---- Shares of the engine's time ----

TEST_F(EngineTurnsTest, ATranscriptionGetsItsShareOfTimeBesideManyQueuedTicks) {
  engine_options.emplace_back("tick_us", "500000");
  Peer& peer = StartDriver();
  SendTick(peer, {Lane(1, {}, {1}, 0)});
  std::vector<uint64_t> ticks;
  uint64_t speech = 0;
  InsideNextStep([&] {
    for (uint64_t i = 0; i < 20; ++i) ticks.push_back(SendTick(peer, {Lane(2 + i, {}, {1}, 0)}));
    speech = SendTranscription(peer, 500);  // 50 ms of engine time
    for (int i = 0; i < 5; ++i) RunBesideTheStep();
  });
  Run();
  const std::vector<size_t> places = PlacesOf(peer, speech);
  ASSERT_FALSE(places.empty());
  size_t ticks_before = 0;
  for (const uint64_t tick : ticks) {
    ticks_before += PlacesOf(peer, tick).at(0) < places.back() ? 1 : 0;
  }
  EXPECT_LE(ticks_before, 1u) << "half a second each, for 50 ms";
}

TEST_F(EngineTurnsTest, ATickThatComesAloneWaitsForOneStepOfATranscription) {
  engine_options.emplace_back("tick_us", "1000");
  Peer& peer = StartDriver();
  SendTranscription(peer, 20'000);
  for (int i = 0; i < 10; ++i) {
    RunSome(50);
    const int64_t steps = EngineSteps();
    const uint64_t tick = SendTick(peer, {Lane(1, {}, {1}, 0)});
    while (AnswerTo<linkw::TickResult>(peer, tick) == nullptr && RunOne()) ReadAll();
    ASSERT_NE(AnswerTo<linkw::TickResult>(peer, tick), nullptr);
    // The tick itself, the step that it came into, and what ran while it was on its way.
    EXPECT_LE(EngineSteps() - steps, 8);
  }
}

// Newcomers that come and go, as most do, take no more than their turns.
TEST_F(EngineTurnsTest, StartingManyTranscriptionsDoesNotStopTheOneThatRuns) {
  engine_options.emplace_back("max_transcriptions", "200");
  Peer& peer = StartDriver();
  SendTranscription(peer, 500);
  std::vector<uint32_t> started;
  InsideNextStep([&] {
    for (int i = 0; i < 100; ++i) SendTranscription(peer, 500);
    for (int i = 0; i < 10; ++i) RunBesideTheStep();
    clock_->inside_step = [&] { started.push_back(progress_->jobs_started()); };
  });
  Run();
  ASSERT_GT(started.size(), 10u);
  EXPECT_LE(started[9], 11u) << "others were started, all at once, before it was stepped again";
}

// ---- Order, and what is not held up by it ----

TEST_F(EngineTurnsTest, AMatchAndASeedDoNotWaitForAnOpOfAnotherSequence) {
  engine_options = {{"op_us", "1000000"}};
  Peer& peer = StartDriver();
  const linkw::SequenceId busy = Prefill(peer, prompt_);
  const linkw::SequenceId other = Prefill(peer, prompt_);
  const linkw::Snapshot snapshot = SnapshotOf(peer, busy, 0, prompt_.size(), 1);
  const uint64_t op = peer.Send(linkw::StateOpSubmit{snapshot});
  const uint64_t match = peer.Send(linkw::MatchRequest{.span = Write(prompt_)});
  const uint64_t publish = peer.Send(
      linkw::StateSyncRequest{linkw::PublishSequence{.sequence = other, .span = Write(prompt_)}});
  linkw::SeedAcquire acquire;
  acquire.span = Write(prompt_);
  acquire.prefix_len = 32;
  const uint64_t seed = peer.Send(acquire);
  const uint64_t evict = peer.Send(linkw::StateSyncRequest{linkw::CacheEvict{}});
  const uint64_t free_grammar =
      peer.Send(linkw::StateSyncRequest{linkw::FreeGrammar{linkw::GrammarHandle{99}}});
  const uint64_t tick = SendTick(peer, {Lane(2, other, {}, 1), Lane(3, {}, {1}, 1)});
  Run();
  EXPECT_NE(AnswerTo<linkw::StateOpAccepted>(peer, op), nullptr);
  EXPECT_EQ(AnswerTo<linkw::StateOpDone>(peer, op), nullptr) << "it takes a second";
  EXPECT_NE(AnswerTo<linkw::MatchResult>(peer, match), nullptr);
  EXPECT_NE(AnswerTo<linkw::StateSyncResult>(peer, publish), nullptr);
  ASSERT_NE(AnswerTo<linkw::SeedGrant>(peer, seed), nullptr);
  EXPECT_EQ(AnswerTo<linkw::SeedGrant>(peer, seed)->status, Status::kOk)
      << "it was sent after the PUBLISH_SEQUENCE";
  EXPECT_NE(AnswerTo<linkw::StateSyncResult>(peer, evict), nullptr);
  EXPECT_NE(AnswerTo<linkw::StateSyncResult>(peer, free_grammar), nullptr);
  EXPECT_NE(AnswerTo<linkw::TickResult>(peer, tick), nullptr);
  Advance(absl::Seconds(2));
  EXPECT_NE(AnswerTo<linkw::StateOpDone>(peer, op), nullptr);
}

// The tick's input is a sequence's first only once the TRIMs before it have run (ALWAYS-2).
TEST_F(EngineTurnsTest, WhatChangesTheCacheDoesNotOvertakeATickBehindATrimToNothing) {
  engine_options = {{"op_us", "1000000"}};
  Peer& peer = StartDriver();
  const linkw::SequenceId sequence = Prefill(peer, prompt_);
  Call<linkw::PublishSequenceResult>(
      peer, linkw::PublishSequence{.sequence = sequence, .span = Write(prompt_)});
  const linkw::Snapshot snapshot = SnapshotOf(peer, sequence, 0, prompt_.size(), 1);
  peer.Send(linkw::StateOpSubmit{snapshot});
  for (uint32_t space = 0; space < 2; ++space) {
    peer.Send(linkw::StateSyncRequest{
        linkw::Trim{.sequence = sequence, .space_id = linkw::SpaceId{space}, .new_len = 0}});
  }
  const uint64_t tick = SendTick(peer, {Lane(1, sequence, prompt_, 1)});
  const uint64_t unpublish =
      peer.Send(linkw::StateSyncRequest{linkw::Unpublish{.span = Write(prompt_)}});
  Run();
  EXPECT_EQ(AnswerTo<linkw::StateSyncResult>(peer, unpublish), nullptr)
      << "the tick before it may take over what it forgets";
  Advance(absl::Seconds(2));
  ASSERT_EQ(PlacesOf(peer, tick).size(), 1u);
  ASSERT_EQ(PlacesOf(peer, unpublish).size(), 1u);
  EXPECT_LT(PlacesOf(peer, tick)[0], PlacesOf(peer, unpublish)[0]);
  EXPECT_EQ(AnswerTo<linkw::StateSyncResult>(peer, unpublish)->status, Status::kOk);
  const uint64_t evict = peer.Send(linkw::StateSyncRequest{linkw::CacheEvict{}});
  const uint64_t next = SendTick(peer, {Lane(1, sequence, {}, 1)});
  Run();
  EXPECT_EQ(AnswerTo<linkw::StateSyncResult>(peer, evict)->status, Status::kOk);
  EXPECT_EQ(AnswerTo<linkw::TickResult>(peer, next)->events.lanes.at(0).status, Status::kOk);
}

TEST_F(EngineTurnsTest, AStageThatWaitsForItsBufferKeepsItsPlace) {
  Peer& peer = StartDriver();
  AttachBuffer(peer, 1, 4096);
  Run();
  const uint64_t stage = peer.Send(linkw::StateSyncRequest{linkw::ForwardStage{
      .tokens = {1},
      .start_layer = 1,
      .end_layer = 2,
      .hidden_in = linkw::BufferSpan{.buf_id = linkw::BufId{1}, .offset = 0, .length = 64}}});
  const uint64_t unload = peer.Send(linkw::StateSyncRequest{linkw::LoraUnload{}});
  Run();
  ASSERT_EQ(PlacesOf(peer, stage).size(), 1u);
  ASSERT_EQ(PlacesOf(peer, unload).size(), 1u);
  EXPECT_LT(PlacesOf(peer, stage)[0], PlacesOf(peer, unload)[0]);
}

TEST_F(EngineTurnsTest, AStageWhoseBufferIsUnknownLeavesNothingBehind) {
  Peer& peer = StartDriver();
  const uint64_t stage = peer.Send(linkw::StateSyncRequest{linkw::ForwardStage{
      .tokens = {1},
      .start_layer = 1,
      .end_layer = 2,
      .hidden_in = linkw::BufferSpan{.buf_id = linkw::BufId{9}, .offset = 0, .length = 64}}});
  const uint64_t unload = peer.Send(linkw::StateSyncRequest{linkw::LoraUnload{}});
  Run();
  EXPECT_EQ(peer.Expect<linkw::StateSyncResult>(stage).status, Status::kUnknownHandle);
  EXPECT_EQ(peer.Expect<linkw::StateSyncResult>(unload).status, Status::kOk);
}

TEST_F(EngineTurnsTest, AStrategyThatIsBeingHashedKeepsItsPlace) {
  Peer& peer = StartDriver();
  const uint64_t strategy = peer.Send(linkw::StrategyRegister{.strategy_id = "none"});
  const uint64_t unload = peer.Send(linkw::StateSyncRequest{linkw::LoraUnload{}});
  Run();
  ASSERT_EQ(PlacesOf(peer, strategy).size(), 1u);
  ASSERT_EQ(PlacesOf(peer, unload).size(), 1u);
  EXPECT_LT(PlacesOf(peer, strategy)[0], PlacesOf(peer, unload)[0]);
}

// A mount that hangs costs the strategy that names it, and nobody else (CALL-6, DRAIN-4).
TEST_F(EngineTurnsTest, AStrategyWhoseFilesHangIsCancelledAtOnce) {
  Peer& peer = StartDriver();
  readers_->hangs = true;
  const uint64_t strategy = peer.Send(linkw::StrategyRegister{.strategy_id = "none"});
  const uint64_t unload = peer.Send(linkw::StateSyncRequest{linkw::LoraUnload{}});
  Run();
  EXPECT_TRUE(peer.empty());
  peer.Send(linkw::TranscribeCancel{strategy});
  Run();
  EXPECT_EQ(peer.Expect<linkw::StrategyGrant>(strategy).status, Status::kCancelled);
  EXPECT_EQ(peer.Expect<linkw::StateSyncResult>(unload).status, Status::kOk);
  readers_->hangs = false;
  Run();
  EXPECT_TRUE(peer.empty()) << "it is answered once";
}

TEST_F(EngineTurnsTest, ADrainDoesNotWaitForFilesThatHang) {
  Peer& peer = StartDriver();
  readers_->hangs = true;
  std::vector<uint64_t> strategies;
  for (int i = 0; i < 3; ++i) {
    strategies.push_back(peer.Send(linkw::StrategyRegister{.strategy_id = "none"}));
  }
  const uint64_t drain = peer.Send(linkw::DrainRequest{.deadline_ms = 100});
  Advance(absl::Milliseconds(200));
  for (const uint64_t seq : strategies) {
    EXPECT_EQ(peer.Expect<linkw::StrategyGrant>(seq).status, Status::kCancelled);
  }
  EXPECT_EQ(peer.Expect<linkw::Drained>(drain).cancelled, 3u);
}

// An adapter's file likewise, and a medium's.
TEST_F(EngineTurnsTest, AdaptersAndMediaWhoseFilesHangHoldUpNobodyElseAndAreCancelledAtOnce) {
  engine_options = {{"call_passes", "3"}};
  config.model_root = config.media_root = testing::TempDir();
  std::ofstream(config.model_root + "/a_file") << "some bytes";
  Peer& peer = StartDriver();
  readers_->hangs = true;
  const uint64_t probe = peer.Send(linkw::StateSyncRequest{linkw::MediaProbe{"a_file"}});
  const uint64_t encode = peer.Send(linkw::StateSyncRequest{linkw::MediaEncode{"a_file"}});
  const uint64_t before = SendTick(peer, {Lane(1, {}, {1}, 1)});
  const uint64_t load = peer.Send(linkw::StateSyncRequest{linkw::LoraLoad{"a_file"}});
  const uint64_t id = peer.Send(linkw::StateSyncRequest{linkw::GetLoraId{}});
  Run();
  EXPECT_EQ(peer.Expect<linkw::TickResult>(before).status, Status::kOk);
  EXPECT_TRUE(peer.empty()) << "what is sent behind an adapter waits for it";
  EXPECT_LT(EngineSteps(), 3) << "the tick; a call of the engine has three passes";
  for (const uint64_t seq : {load, probe, encode}) {
    peer.Send(linkw::TranscribeCancel{seq});
    Run();
    EXPECT_EQ(peer.Expect<linkw::StateSyncResult>(seq).status, Status::kCancelled);
    if (seq != load) continue;
    const auto current = peer.Expect<linkw::StateSyncResult>(id);
    EXPECT_EQ(std::get<linkw::LoraIdResult>(current.reply).lora_id, linkw::LoraId{});
  }
  readers_->hangs = false;
  Run();
  EXPECT_TRUE(peer.empty()) << "each is answered once";
  const auto loaded = Call<linkw::LoraIdResult>(peer, linkw::LoraLoad{"a_file"});
  EXPECT_NE(loaded.lora_id, linkw::LoraId{});
  EXPECT_EQ(CallAny(peer, linkw::LoraLoad{"missing"}).status, Status::kNotFound);
  EXPECT_EQ(CallAny(peer, linkw::LoraLoad{"/etc/passwd"}).status, Status::kPermissionDenied);
  EXPECT_EQ(CallAny(peer, linkw::MediaProbe{"missing"}).status, Status::kNotFound);
  readers_->is_full = true;
  EXPECT_EQ(CallAny(peer, linkw::MediaProbe{"a_file"}).status, Status::kBusy);
}

// ---- Limits ----

TEST_F(EngineTurnsTest, ABurstOfSeedReleasesMakesNoTickBusy) {
  config.limits.max_open_requests = 8;
  engine_options = {{"tick_us", "200000"}};
  Peer& peer = StartDriver();
  const uint64_t running = SendTick(peer, {Lane(1, {}, {1}, 0)});
  uint64_t next = 0;
  InsideNextStep([&] {
    for (uint64_t i = 1; i <= 20; ++i) peer.Send(linkw::SeedRelease{linkw::SeedHandle{i}});
    next = SendTick(peer, {Lane(2, {}, {1}, 0)});
    RunBesideTheStep();
  });
  Run();
  EXPECT_EQ(peer.Expect<linkw::TickResult>(running).status, Status::kOk);
  EXPECT_EQ(peer.Expect<linkw::TickResult>(next).status, Status::kOk);
}

TEST_F(EngineTurnsTest, AFloodOfSeedReleasesBehindALongStepIsBounded) {
  engine_options = {{"tick_us", "200000"}};
  Start();
  Peer& peer = NextDriver(/*capacity_bytes=*/size_t{1} << 20);
  SendTick(peer, {Lane(1, {}, {1}, 0)});
  InsideNextStep([&] {
    // Four times as many as the worker takes in, and less than the stream holds.
    for (uint64_t i = 0; i < 8000; ++i) peer.Send(linkw::SeedRelease{linkw::SeedHandle{i + 1}});
    for (int i = 0; i < 20; ++i) RunBesideTheStep();
    EXPECT_LT(progress_->waiting(), 2000u);
  });
  Run();
  const uint64_t ping = peer.Send(linkw::Ping{});
  Run();
  EXPECT_NE(AnswerTo<linkw::Pong>(peer, ping), nullptr) << "all were taken in the end";
}

// ---- Transcriptions that do not step ----

TEST_F(EngineTurnsTest, AStopWordIsSeenWhileNothingSteps) {
  engine_options.emplace_back("max_transcriptions", "1");
  Peer& peer = StartDriver();
  linkw::StateSyncRequest request = LiveRequest();
  std::get<linkw::Transcribe>(request.call).control_slot = 3;
  const uint64_t silent = peer.Send(request);
  peer.Send(linkw::TranscribeAudio{.request_seq = silent, .data = Noise(100)});
  std::get<linkw::Transcribe>(request.call).control_slot = 4;
  const uint64_t waiting = peer.Send(request);
  peer.Send(linkw::TranscribeAudio{.request_seq = waiting, .data = Noise(100)});
  Advance(absl::Milliseconds(100));
  peer.received().clear();
  ASSERT_TRUE(control_->StopTranscription(3, waiting).ok());
  Advance(absl::Milliseconds(25));
  EXPECT_EQ(peer.Expect<linkw::StateSyncResult>(waiting).status, Status::kCancelled);
  ASSERT_TRUE(control_->StopTranscription(2, silent).ok());
  Advance(absl::Milliseconds(25));
  EXPECT_EQ(peer.Expect<linkw::StateSyncResult>(silent).status, Status::kCancelled);
}

// CTRL-5: the file's mount hangs, and no micro-step comes.
TEST_F(EngineTurnsTest, AStopWordIsSeenWhileItsRecordingIsBeingOpened) {
  Peer& peer = StartDriver();
  readers_->hangs = true;
  AttachBuffer(peer, 1, 32'000);
  linkw::Transcribe transcribe;
  transcribe.audio =
      linkw::AudioBuffer{.buf_id = linkw::BufId{1},
                         .length = 32'000,
                         .format = linkw::PcmFormat{.sample_rate_hz = 16000, .channels = 1}};
  transcribe.control_slot = 3;
  const uint64_t hung = peer.Send(linkw::StateSyncRequest{transcribe});
  transcribe.control_slot = 4;
  const uint64_t other = peer.Send(linkw::StateSyncRequest{transcribe});
  Advance(absl::Milliseconds(50));
  EXPECT_TRUE(peer.empty());
  ASSERT_TRUE(control_->StopTranscription(2, hung).ok());
  Advance(absl::Milliseconds(25));
  const auto answer = peer.Expect<linkw::StateSyncResult>(hung);
  EXPECT_EQ(answer.status, Status::kCancelled);
  EXPECT_TRUE(std::holds_alternative<linkw::TranscribeResult>(answer.reply));
  EXPECT_TRUE(peer.empty());
  readers_->hangs = false;
  Advance(absl::Milliseconds(50));
  EXPECT_EQ(TakeAll(peer, other).status, Status::kOk) << "another word is set";
  // One that was set before its request was looked at.
  readers_->hangs = true;
  transcribe.control_slot = 5;
  ASSERT_TRUE(control_->StopTranscription(4, other + 1).ok());
  ASSERT_EQ(peer.Send(linkw::StateSyncRequest{transcribe}), other + 1);
  Run();
  EXPECT_EQ(peer.Expect<linkw::StateSyncResult>(other + 1).status, Status::kCancelled);
  readers_->hangs = false;
  Advance(absl::Milliseconds(50));
  EXPECT_TRUE(peer.empty()) << "each is answered once";
}

TEST_F(EngineTurnsTest, LiveStreamsThatSayNothingTakeNoPlace) {
  engine_options.emplace_back("max_transcriptions", "2");
  Peer& peer = StartDriver();
  std::vector<uint64_t> silent;
  for (int i = 0; i < 4; ++i) silent.push_back(peer.Send(LiveRequest()));
  Run();
  const uint64_t file = SendTranscription(peer, 200);
  Run();
  EXPECT_EQ(TakeAll(peer, file).status, Status::kOk);
  for (const uint64_t seq : silent) {
    peer.Send(
        linkw::TranscribeAudio{.request_seq = seq, .data = Noise(200), .end_of_stream = true});
    Run();
    EXPECT_EQ(TakeAll(peer, seq).status, Status::kOk);
  }
}

}  // namespace
}  // namespace superfluid
