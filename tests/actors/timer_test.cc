// No timer of a link, a request or a call outlives what it was for: a whole worker in virtual time.

#include <cstddef>

#include "absl/time/time.h"
#include "caf/detail/test_actor_clock.hpp"
#include "gtest/gtest.h"
#include "protocol/messages/messages.h"
#include "protocol/messages/status.h"
#include "tests/actors/generation_fixture.h"

namespace superfluid {
namespace {

constexpr uint32_t kHourMs = 3'600'000;

class TimerTest : public GenerationFixture {
 protected:
  // What the actor system keeps until its time has come, and with it the receivers and their
  // threads.
  size_t PendingTimers() { return scheduler().clock().schedule().size(); }

  // One whole link with a request whose deadline is far.
  void RunLinkWithFarDeadline() {
    Peer& peer = ConnectDriver();
    const uint64_t seq = SendTranscription(peer, 200, kHourMs);
    Run();
    EXPECT_EQ(TakeAll(peer, seq).status, linkw::Status::kOk);
    peer.HangUp();
    Run();
  }
};

TEST_F(TimerTest, AFarDeadlineLeavesNoTimerBehind) {
  Start();
  RunLinkWithFarDeadline();
  const size_t before = PendingTimers();
  for (int i = 0; i < 20; ++i) RunLinkWithFarDeadline();
  EXPECT_LE(PendingTimers(), before);
}

TEST_F(TimerTest, ADrainWithAFarDeadlineLeavesNoTimerBehind) {
  Start();
  const auto drain = [&] {
    Peer& peer = ConnectDriver();
    const uint64_t seq = peer.Send(linkw::DrainRequest{.deadline_ms = kHourMs});
    Run();
    peer.Expect<linkw::Drained>(seq);
    peer.HangUp();
    Run();
  };
  drain();
  const size_t before = PendingTimers();
  for (int i = 0; i < 20; ++i) drain();
  EXPECT_LE(PendingTimers(), before);
}

TEST_F(TimerTest, ALinkThatUsedADescriptorLeavesNoTimerBehind) {
  Start();
  const auto attach = [&] {
    Peer& peer = NextDriver();
    peer.HangUp();
    Run();
  };
  attach();
  const size_t before = PendingTimers();
  for (int i = 0; i < 20; ++i) attach();
  EXPECT_LE(PendingTimers(), before);
}

TEST_F(TimerTest, AnObserverWithTelemetryLeavesNoTimerBehind) {
  Start();
  const auto look = [&] {
    Peer& peer = Connect(false);
    linkw::Hello hello;
    hello.client_name = "test";
    hello.role = linkw::Role::kObserver;
    hello.features = {"telemetry"};
    peer.Expect<linkw::HelloAck>([&] {
      const uint64_t seq = peer.Send(hello);
      Run();
      return seq;
    }());
    peer.HangUp();
    Run();
  };
  look();
  const size_t before = PendingTimers();
  for (int i = 0; i < 20; ++i) look();
  EXPECT_LE(PendingTimers(), before);
}

TEST_F(TimerTest, CallsLeaveNoTimersBehind) {
  Peer& peer = StartDriver();
  const auto call = [&](int number) {
    Call<linkw::CreateSequenceResult>(peer, linkw::CreateSequence{});
    AttachBuffer(peer, 100 + static_cast<uint64_t>(number), 4096);
    const uint64_t alloc =
        peer.Send(linkw::BufAlloc{.buf_id = linkw::BufId(500 + number), .len = 4096});
    Run();
    peer.Expect<linkw::BufAlloced>(alloc);
    ASSERT_TRUE(peer.ReceiveFd().has_value());
  };
  call(0);
  const size_t before = PendingTimers();
  for (int i = 1; i <= 100; ++i) call(i);
  EXPECT_LE(PendingTimers(), before);
}

TEST_F(TimerTest, ShortDeadlinesBesideAFarOneDoNotMultiplyTimers) {
  Peer& peer = StartDriver();
  peer.Send(LiveRequest(kHourMs));
  Run();
  const linkw::SequenceId sequence = Prefill(peer, {1, 2, 3});
  const auto tick = [&] {
    SendTick(peer, {Lane(1, sequence, {4}, 0)}, 0, 50'000);
    Advance(absl::Milliseconds(60));
    peer.received().clear();
  };
  tick();
  const size_t before = PendingTimers();
  for (int i = 0; i < 50; ++i) tick();
  EXPECT_LE(PendingTimers(), before + 1);
}

TEST_F(TimerTest, ADeadlineIsKeptToTheMillisecond) {
  Start();
  Peer& peer = ConnectDriver();
  const uint64_t seq = peer.Send(LiveRequest(1500));
  Run();
  const auto begin = clock_->Now();
  while (peer.empty() && clock_->Now() - begin < absl::Seconds(10)) {
    scheduler().advance_time(std::chrono::microseconds(100));
    Run();
  }
  EXPECT_EQ(TakeAll(peer, seq).status, linkw::Status::kDeadlineExceeded);
  EXPECT_GE(clock_->Now() - begin, absl::Milliseconds(1500));
  EXPECT_LE(clock_->Now() - begin, absl::Milliseconds(1502));
}

TEST_F(TimerTest, ACallWaitsForAHealthyEngineAsLongAsItTakes) {
  config.limits.engine_patience = absl::Milliseconds(100);
  engine_options.emplace_back("tick_us", "2000");
  Peer& peer = StartDriver();
  const linkw::SequenceId sequence = Prefill(peer, {1, 2, 3});
  uint64_t fork = 0;
  clock_->inside_step = [&] {
    clock_->inside_step = nullptr;
    fork = peer.Send(linkw::StateSyncRequest{linkw::Fork{.parent = sequence}});
    Advance(absl::Seconds(1));
  };
  const uint64_t tick = SendTick(peer, {Lane(1, sequence, {4}, 1)});
  Run();
  peer.Expect<linkw::TickResult>(tick);
  EXPECT_EQ(peer.Expect<linkw::StateSyncResult>(fork).status, linkw::Status::kOk);
}

}  // namespace
}  // namespace superfluid
