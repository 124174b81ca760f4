// Calls of the engine that take long, and the watchdog: a whole worker in virtual time.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "protocol/messages/status.h"
#include "tests/actors/generation_fixture.h"

namespace superfluid {
namespace {

using linkw::Status;

// The engine's calls take 100 passes of 100 ms.
class LongCallTest : public GenerationFixture {
 protected:
  LongCallTest() {
    engine_options = {{"call_passes", "100"}, {"call_pass_us", "100000"}};
    config.model_root = testing::TempDir();
    config.engine_stall = absl::Milliseconds(500);
    config.engine_kill = absl::Seconds(1);
  }

  int64_t StepAgeMs() {
    const auto now = scheduler().clock().now().time_since_epoch();
    const auto now_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
    return progress_->StepAgeNs(now_ns) / 1'000'000;
  }
  // Runs `act` once, inside the n-th pass.
  void InPass(int64_t n, std::function<void()> act) {
    clock_->inside_step = [this, n, act = std::move(act)] {
      if (EngineSteps() != n) return;
      clock_->inside_step = nullptr;
      act();
    };
  }
  std::string Adapter() {
    const std::string name = "long_call_adapter";
    std::ofstream(config.model_root + "/" + name) << "an adapter";
    return name;
  }
  static linkw::StateSyncRequest Embed() { return {linkw::Embed{.tokens = {1, 2, 3}}}; }

  std::vector<uint32_t> prompt_ = std::vector<uint32_t>(32, 7);
};

TEST_F(LongCallTest, ACallThatGetsOnIsNoStall) {
  Peer& peer = StartDriver();
  int64_t oldest_ms = 0;
  clock_->inside_step = [&] { oldest_ms = std::max(oldest_ms, StepAgeMs()); };
  const uint64_t embed = peer.Send(Embed());
  Run();
  EXPECT_EQ(peer.Expect<linkw::StateSyncResult>(embed).status, Status::kOk);
  EXPECT_EQ(EngineSteps(), 100);
  EXPECT_LT(oldest_ms, 500) << "of ten seconds";
  EXPECT_TRUE(stuck_.empty());
}

TEST_F(LongCallTest, ACallThatHangsIsAStall) {
  engine_options.emplace_back("stuck_at_call", "1");
  engine_options.emplace_back("stuck_ms", "5000");
  Peer& peer = StartDriver();
  InPass(1, [this] { Advance(absl::Seconds(3)); });
  peer.Send(Embed());
  Run();
  EXPECT_EQ(stuck_.size(), 1u);
}

TEST_F(LongCallTest, TheEndOfTheLinkStopsACall) {
  Peer& peer = StartDriver();
  InPass(3, [&] {
    peer.HangUp();
    Run();
  });
  peer.Send(Embed());
  Run();
  EXPECT_EQ(EngineSteps(), 3);
}

TEST_F(LongCallTest, ADrainsDeadlineStopsACall) {
  Peer& peer = StartDriver();
  uint64_t drain = 0;
  InPass(3, [&] {
    drain = peer.Send(linkw::DrainRequest{.deadline_ms = 50});
    Run();
    Advance(absl::Milliseconds(60));
  });
  const uint64_t embed = peer.Send(Embed());
  Run();
  const auto answer = peer.Expect<linkw::StateSyncResult>(embed);
  EXPECT_EQ(answer.status, Status::kCancelled);
  EXPECT_NE(answer.message.find("draining"), std::string::npos) << answer.message;
  EXPECT_EQ(peer.Expect<linkw::Drained>(drain).cancelled, 1u);
  EXPECT_EQ(EngineSteps(), 3);
}

TEST_F(LongCallTest, ACancelStopsACall) {
  Peer& peer = StartDriver();
  uint64_t embed = 0;
  InPass(3, [&] {
    peer.Send(linkw::TranscribeCancel{.request_seq = embed});
    Run();
  });
  embed = peer.Send(Embed());
  Run();
  EXPECT_EQ(peer.Expect<linkw::StateSyncResult>(embed).status, Status::kCancelled);
  EXPECT_EQ(EngineSteps(), 3);
  EXPECT_EQ(progress_->cancels(), 1u);
  EXPECT_TRUE(peer.empty());
}

TEST_F(LongCallTest, ACancelOfAllTranscriptionsStopsNoCall) {
  Peer& peer = StartDriver();
  InPass(3, [&] {
    peer.Send(linkw::TranscribeCancel{.request_seq = 0});
    Run();
  });
  const uint64_t embed = peer.Send(Embed());
  Run();
  EXPECT_EQ(peer.Expect<linkw::StateSyncResult>(embed).status, Status::kOk);
}

TEST_F(LongCallTest, ACallThatWaitsIsEndedByItsCancelAndNeverRun) {
  Peer& peer = StartDriver();
  uint64_t second = 0;
  InPass(3, [&] {
    peer.Send(linkw::TranscribeCancel{.request_seq = second});
    Run();
  });
  const uint64_t first = peer.Send(Embed());
  second = peer.Send(Embed());
  const uint64_t third = peer.Send(Embed());
  Run();
  EXPECT_EQ(peer.Expect<linkw::StateSyncResult>(first).status, Status::kOk);
  EXPECT_EQ(peer.Expect<linkw::StateSyncResult>(second).status, Status::kCancelled);
  EXPECT_EQ(peer.Expect<linkw::StateSyncResult>(third).status, Status::kOk);
  EXPECT_EQ(EngineSteps(), 200);
}

TEST_F(LongCallTest, AnAdapterWhoseLoadingWasStoppedIsNotThere) {
  Peer& peer = StartDriver();
  uint64_t load = 0;
  InPass(3, [&] {
    peer.Send(linkw::TranscribeCancel{.request_seq = load});
    Run();
  });
  load = peer.Send(linkw::StateSyncRequest{linkw::LoraLoad{Adapter()}});
  Run();
  EXPECT_EQ(peer.Expect<linkw::StateSyncResult>(load).status, Status::kCancelled);
  EXPECT_EQ(Call<linkw::LoraIdResult>(peer, linkw::GetLoraId{}).lora_id, linkw::LoraId{});
}

TEST_F(LongCallTest, APublishingThatWasStoppedPublishedNothing) {
  Peer& peer = StartDriver();
  const linkw::SequenceId sequence = Prefill(peer, prompt_);
  const auto publish = [&](linkw::StateSyncCall call) {
    const int64_t before = EngineSteps();
    uint64_t seq = 0;
    InPass(before + 3, [&] {
      peer.Send(linkw::TranscribeCancel{.request_seq = seq});
      Run();
    });
    seq = peer.Send(linkw::StateSyncRequest{std::move(call)});
    Run();
    EXPECT_EQ(peer.Expect<linkw::StateSyncResult>(seq).status, Status::kCancelled);
    const uint64_t match = peer.Send(linkw::MatchRequest{.span = Write(prompt_), .media_deps = {}});
    Run();
    for (const auto& space : peer.Expect<linkw::MatchResult>(match).spaces) {
      EXPECT_EQ(space.matched_tokens, 0u);
    }
  };
  publish(linkw::PublishSequence{.sequence = sequence, .span = Write(prompt_)});
  publish(linkw::AdoptSequence{.sequence = sequence, .span = Write(prompt_)});
  EXPECT_EQ(Decode(peer, sequence, 3).size(), 3u) << "the sequence can still be used";
}

// A state job that is done at once, and calls `at_end` when it is destroyed.
class ScriptedJob : public StateJob {
 public:
  explicit ScriptedJob(std::function<void()> at_end) : at_end_(std::move(at_end)) {}
  ScriptedJob(const ScriptedJob&) = delete;
  ScriptedJob& operator=(const ScriptedJob&) = delete;
  ~ScriptedJob() override { at_end_(); }
  absl::StatusOr<StateJobOutcome> Step(const StepBudget& /*budget*/,
                                       const CancelToken& /*token*/) override {
    return StateJobOutcome::kDone;
  }
  uint64_t bytes_moved() const override { return 0; }

 private:
  const std::function<void()> at_end_;
};

// An engine that hangs for a while in a call that is no step of anybody's work.
class HangingEngineTest : public GenerationFixture {
 protected:
  HangingEngineTest() {
    config.engine_stall = absl::Seconds(1);
    config.engine_kill = absl::Seconds(10);
    config.make_engine = [this] {
      auto engine = std::make_unique<FakeEngine>();
      engine_ = engine.get();
      return absl::StatusOr<std::unique_ptr<Engine>>(std::move(engine));
    };
  }
  // What a call that hangs does, once.
  std::function<void()> Hang(Peer& observer) {
    return [this, &observer, hung = false]() mutable {
      if (std::exchange(hung, true)) return;
      Advance(absl::Seconds(2));
      const uint64_t ping = observer.Send(linkw::Ping{});
      Run();
      inside_ = observer.Expect<linkw::Pong>(ping);
      Advance(absl::Seconds(9));
    };
  }
  void ExpectSeen() {
    EXPECT_EQ(inside_.engine_state, linkw::EngineState::kStalled);
    EXPECT_GE(inside_.step_age_us, 1'500'000u);
    EXPECT_EQ(stuck_.size(), 1u);
  }

  FakeEngine* engine_ = nullptr;
  linkw::Pong inside_;
};

TEST_F(HangingEngineTest, IsSeenWhenItEndsASession) {
  Start();
  Peer& driver = ConnectDriver();
  Peer& observer = ConnectObserver();
  Call<linkw::CreateSequenceResult>(driver, linkw::CreateSequence{});
  engine_->fake().end_session = Hang(observer);
  driver.HangUp();
  Run();
  ExpectSeen();
}

TEST_F(HangingEngineTest, IsSeenWhenItIsAskedForItsMemory) {
  Start();
  Peer& driver = ConnectDriver();
  Peer& observer = ConnectObserver();
  engine_->on_memory = Hang(observer);
  driver.Send(linkw::StateSyncRequest{linkw::CreateSequence{}});
  Run();
  ExpectSeen();
}

TEST_F(HangingEngineTest, IsSeenWhenItIsReset) {
  config.on_disconnect = OnDisconnect::kReset;
  Start();
  Peer& driver = ConnectDriver();
  Peer& observer = ConnectObserver();
  engine_->on_reset = Hang(observer);
  driver.HangUp();
  Run();
  ExpectSeen();
}

TEST_F(HangingEngineTest, IsSeenWhenItLetsGoOfAStateJob) {
  Start();
  Peer& driver = NextDriver();
  Peer& observer = ConnectObserver();
  engine_->fake().start_export = [&](const StateExport&, absl::Span<std::byte>) {
    return absl::StatusOr<std::unique_ptr<StateJob>>(std::make_unique<ScriptedJob>(Hang(observer)));
  };
  const auto made = Call<linkw::CreateSequenceResult>(driver, linkw::CreateSequence{});
  AttachBuffer(driver, 9, 4096);
  driver.Send(linkw::StateOpSubmit{linkw::Snapshot{.sequence = made.sequence,
                                                   .space_id = {},
                                                   .boundary_pos = 5,
                                                   .buf_id = linkw::BufId{9},
                                                   .sizing_gen = 7}});
  Run();
  ExpectSeen();
}

}  // namespace
}  // namespace superfluid
