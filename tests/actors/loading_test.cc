// A worker that still loads its engine: a whole worker in virtual time.

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "engine/sim/sim_engine.h"
#include "gtest/gtest.h"
#include "protocol/messages/messages.h"
#include "protocol/messages/status.h"
#include "tests/actors/worker_fixture.h"

namespace superfluid {
namespace {

using linkw::EngineState;
using linkw::Role;
using linkw::Status;

class LoadingTest : public WorkerFixture {
 protected:
  LoadingTest() {
    engine_options.emplace_back("load_ms", "10000");
    config.make_engine = [this] {
      EngineConfig engine_config;
      engine_config.options = engine_options;
      engine_config.on_loading = [this](uint32_t permille) {
        progress_->SetLoaded(permille);
        if (permille < look_at_ || looked_) return;
        looked_ = true;
        while_loading_();
      };
      return MakeSimEngine(engine_config, clock_);
    };
  }

  // Starts the worker, and calls `look` when so much of the engine is loaded.
  void StartAndLook(uint32_t permille, std::function<void()> look) {
    look_at_ = permille;
    while_loading_ = std::move(look);
    Start();
    EXPECT_TRUE(looked_);
  }
  linkw::Pong PingOf(Peer& peer) {
    const uint64_t ping = peer.Send(linkw::Ping{});
    Run();
    return peer.Expect<linkw::Pong>(ping);
  }
  static void ExpectFatal(Peer& peer, uint64_t correlation, Status status,
                          const std::string& text) {
    const auto error = peer.Expect<linkw::Error>(correlation);
    EXPECT_EQ(error.status, status);
    EXPECT_TRUE(error.fatal);
    EXPECT_NE(error.message.find(text), std::string::npos) << error.message;
    EXPECT_TRUE(peer.closed());
  }

 private:
  uint32_t look_at_ = 0;
  bool looked_ = false;
  std::function<void()> while_loading_ = [] {};
};

TEST_F(LoadingTest, APingBeforeHelloSaysHowFarItIs) {
  Peer* peer = nullptr;
  StartAndLook(900, [&] {
    peer = &Connect();
    const linkw::Pong pong = PingOf(*peer);
    EXPECT_EQ(pong.engine_state, EngineState::kLoading);
    EXPECT_EQ(pong.load_permille, 900U);
    EXPECT_EQ(pong.uptime_ms, 9000U);
  });
  const linkw::Pong pong = PingOf(*peer);
  EXPECT_EQ(pong.engine_state, EngineState::kIdle);
  EXPECT_EQ(pong.load_permille, 0U);
  EXPECT_EQ(pong.uptime_ms, 10'000U);
  const uint64_t hello = peer->SendHello();
  Run();
  peer->Expect<linkw::HelloAck>(hello);
}

TEST_F(LoadingTest, AHelloWaitsAndAPingBehindItDoesNot) {
  Peer* driver = nullptr;
  Peer* observer = nullptr;
  uint64_t driver_hello = 0;
  uint64_t observer_hello = 0;
  StartAndLook(10, [&] {
    driver = &Connect();
    driver_hello = driver->SendHello();
    const uint64_t behind = driver->Send(linkw::StateSyncRequest{linkw::Capabilities{}});
    observer = &Connect(false);
    observer_hello = observer->SendHello(Role::kObserver);
    EXPECT_EQ(PingOf(*driver).engine_state, EngineState::kLoading);
    EXPECT_EQ(PingOf(*observer).engine_state, EngineState::kLoading);
    Advance(absl::Minutes(2));  // longer than a HELLO, or the claim of a role, may take
    EXPECT_EQ(PingOf(*driver).engine_state, EngineState::kLoading);
    EXPECT_TRUE(driver->empty());
    EXPECT_EQ(behind, driver_hello + 1);
  });
  driver->Expect<linkw::HelloAck>(driver_hello);
  const auto answer = driver->Expect<linkw::StateSyncResult>(driver_hello + 1);
  EXPECT_EQ(answer.status, Status::kOk);
  observer->Expect<linkw::HelloAck>(observer_hello);
  SendTranscription(*driver, 100);
  Run();
  EXPECT_FALSE(driver->empty());
}

TEST_F(LoadingTest, AnEngineThatSaysNothingIsLoadingAllTheSame) {
  engine_options.clear();
  config.make_engine = [this] {
    Peer& peer = Connect();
    const linkw::Pong pong = PingOf(peer);
    EXPECT_EQ(pong.engine_state, EngineState::kLoading);
    EXPECT_EQ(pong.load_permille, 0U);
    return MakeSimEngine({}, clock_);
  };
  Start();
  ConnectDriver();
}

TEST_F(LoadingTest, WhatComesBeforeHelloIsALinkErrorAsEver) {
  StartAndLook(10, [&] {
    Peer& peer = Connect();
    const uint64_t seq = peer.Send(linkw::StateSyncRequest{linkw::Capabilities{}});
    Run();
    ExpectFatal(peer, seq, Status::kProtocolError, "before HELLO");
    Peer& silent = Connect();
    Advance(absl::Seconds(6));
    ExpectFatal(silent, 0, Status::kDeadlineExceeded, "HELLO");
  });
}

TEST_F(LoadingTest, TheOldestWaitingLinkGivesWay) {
  config.places.new_links = 2;
  Peer* second = nullptr;
  uint64_t hello = 0;
  StartAndLook(10, [&] {
    Peer& first = Connect();
    const uint64_t first_hello = first.SendHello();
    Run();
    second = &Connect();
    hello = second->SendHello(Role::kObserver);
    Connect().SendHello(Role::kObserver);
    Run();
    ExpectFatal(first, first_hello, Status::kBusy, "another link");
  });
  second->Expect<linkw::HelloAck>(hello);
}

TEST_F(LoadingTest, OfDriversThatWaitOneGetsTheRole) {
  Peer* first = nullptr;
  Peer* second = nullptr;
  uint64_t first_hello = 0;
  uint64_t second_hello = 0;
  StartAndLook(10, [&] {
    first = &Connect();
    first_hello = first->SendHello();
    second = &Connect();
    second_hello = second->SendHello();
    Run();
  });
  if (first->empty()) {
    std::swap(first, second);
    std::swap(first_hello, second_hello);
  }
  first->Expect<linkw::HelloAck>(first_hello);
  Advance(absl::Seconds(1));
  ExpectFatal(*second, second_hello, Status::kBusy, "drives");
}

TEST_F(LoadingTest, ALoadThatFailsSaysWhyToWhoWaits) {
  engine_options.emplace_back("fail_load", "1");
  Peer* waiting = nullptr;
  Peer* silent = nullptr;
  uint64_t hello = 0;
  StartAndLook(10, [&] {
    waiting = &Connect();
    hello = waiting->SendHello();
    silent = &Connect();
    Run();
  });
  ExpectFatal(*waiting, hello, Status::kEngineFailed, "the load failed, as asked for");
  ExpectFatal(*silent, 0, Status::kEngineFailed, "cannot be loaded");
  ASSERT_TRUE(exit_.has_value());
  EXPECT_EQ(exit_->first, ExitCode::kEngineNotLoaded);
  EXPECT_EQ(exit_->second, "the load failed, as asked for");
}

TEST_F(LoadingTest, AShutDownWhileItLoadsWaitsForNothing) {
  StartAndLook(10, [&] {
    Peer& peer = Connect();
    const uint64_t hello = peer.SendHello();
    Run();
    compat::SendFromOutside(supervisor_, ShutDown{.patience = absl::Seconds(30)});
    Run();
    ExpectFatal(peer, hello, Status::kDraining, "shutting down");
    ASSERT_TRUE(exit_.has_value());
    EXPECT_EQ(exit_->first, ExitCode::kOk);
  });
}

TEST_F(LoadingTest, HelloWaitsForTheHashOfTheBundle) {
  config.hash_bundle = [] { return linkw::Hash{7}; };
  readers_->hangs = true;
  bool is_ready = false;
  config.on_ready = [&] { is_ready = true; };
  Start();
  Peer& peer = Connect();
  const uint64_t hello = peer.SendHello();
  const linkw::Pong pong = PingOf(peer);
  EXPECT_EQ(pong.engine_state, EngineState::kLoading);
  EXPECT_EQ(pong.load_permille, 1000U);
  EXPECT_FALSE(is_ready);
  readers_->hangs = false;
  Run();
  EXPECT_EQ(peer.Expect<linkw::HelloAck>(hello).engine_bundle_hash, linkw::Hash{7});
  EXPECT_TRUE(is_ready);
}

TEST_F(LoadingTest, ABundleThatCannotBeHashedIsAnErrorOfStart) {
  config.hash_bundle = []() -> absl::StatusOr<linkw::Hash> {
    return absl::AbortedError("it changed while it was read");
  };
  readers_->hangs = true;
  Start();
  Peer& peer = Connect();
  const uint64_t hello = peer.SendHello();
  Run();
  readers_->hangs = false;
  Run();
  ExpectFatal(peer, hello, Status::kEngineFailed, "it changed while it was read");
  ASSERT_TRUE(exit_.has_value());
  EXPECT_EQ(exit_->first, ExitCode::kEngineNotLoaded);
}

TEST_F(LoadingTest, WhoeverWatchesIsToldHowFarItIs) {
  std::vector<uint32_t> told;
  config.on_loading = [&](uint32_t permille) { told.push_back(permille); };
  StartAndLook(500, [&] { Advance(absl::Seconds(1)); });
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told.back(), 500U);
  const size_t while_loading = told.size();
  Advance(absl::Seconds(1));
  EXPECT_EQ(told.size(), while_loading);
}

class PresenceTest : public WorkerFixture {
 protected:
  linkw::Pong PingOf(Peer& peer) {
    const uint64_t ping = peer.Send(linkw::Ping{});
    Run();
    return peer.Expect<linkw::Pong>(ping);
  }
};

TEST_F(PresenceTest, PongSaysWhoDrivesAndSinceWhen) {
  Start();
  Peer& observer = ConnectObserver();
  Advance(absl::Seconds(2));
  linkw::Pong pong = PingOf(observer);
  EXPECT_EQ(pong.uptime_ms, 2000U);
  EXPECT_EQ(pong.observers, 1U);
  EXPECT_EQ(pong.driver_pid, 0U);
  EXPECT_EQ(pong.driver_ms, 0U);

  peer_pid = 4711;
  Peer& driver = ConnectDriver();
  peer_pid = 0;
  EXPECT_EQ(PingOf(observer).driver_ms, 1U) << "one that drives since now drives";
  ConnectObserver();
  Advance(absl::Seconds(3));
  pong = PingOf(observer);
  EXPECT_EQ(pong.uptime_ms, 5000U);
  EXPECT_EQ(pong.observers, 2U);
  EXPECT_EQ(pong.driver_pid, 4711U);
  EXPECT_EQ(pong.driver_ms, 3000U);

  driver.HangUp();
  peers_.back().HangUp();
  Run();
  pong = PingOf(observer);
  EXPECT_EQ(pong.observers, 1U);
  EXPECT_EQ(pong.driver_pid, 0U);
  EXPECT_EQ(pong.driver_ms, 0U);
  ConnectDriver();
  pong = PingOf(observer);
  EXPECT_EQ(pong.driver_pid, 0U) << "of who is not known";
  EXPECT_EQ(pong.driver_ms, 1U);
}

TEST_F(PresenceTest, ANewLinkIsNoObserver) {
  Start();
  Peer& observer = ConnectObserver();
  Connect();
  Run();
  EXPECT_EQ(PingOf(observer).observers, 1U);
}

}  // namespace
}  // namespace superfluid
