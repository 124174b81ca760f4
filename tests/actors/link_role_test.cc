// Who gets a place and a role among a worker's links: a whole worker in virtual time.

#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "protocol/messages/messages.h"
#include "protocol/messages/status.h"
#include "tests/actors/worker_fixture.h"

namespace superfluid {
namespace {

using linkw::Role;
using linkw::Status;

class LinkRoleTest : public WorkerFixture {
 protected:
  static void ExpectLetGo(Peer& peer, Status status) {
    ASSERT_FALSE(peer.empty());
    const Received received = peer.Take();
    const auto* error = std::get_if<linkw::Error>(&received.message);
    ASSERT_NE(error, nullptr);
    EXPECT_EQ(error->status, status);
    EXPECT_TRUE(error->fatal);
    EXPECT_TRUE(peer.closed());
  }
};

TEST_F(LinkRoleTest, IdleObserversKeepNobodyOut) {
  config.places.observers = 4;
  Start();
  std::vector<Peer*> observers;
  for (int i = 0; i < 4; ++i) observers.push_back(&ConnectObserver());
  Advance(absl::Seconds(2));
  observers[0]->Send(linkw::Ping{});
  Run();
  ConnectObserver();
  ExpectLetGo(*observers[1], Status::kBusy);
  EXPECT_FALSE(observers[0]->closed());
  ConnectDriver();
}

TEST_F(LinkRoleTest, ObserversThatAreHeardOfKeepTheirPlacesAndADriverGetsIn) {
  config.places.observers = 2;
  Start();
  Peer& first = ConnectObserver();
  ConnectObserver();
  Peer& third = Connect(false);
  third.SendHello(Role::kObserver);
  Run();
  ExpectLetGo(third, Status::kBusy);
  EXPECT_FALSE(first.closed());
  ConnectDriver();
}

TEST_F(LinkRoleTest, StrangersWithoutAHelloKeepNobodyOut) {
  config.places.new_links = 3;
  Start();
  std::vector<Peer*> strangers;
  for (int i = 0; i < 5; ++i) {
    strangers.push_back(&Connect(false));
    Run();
  }
  ExpectLetGo(*strangers[0], Status::kBusy);
  ExpectLetGo(*strangers[1], Status::kBusy);
  ConnectDriver();
  ConnectObserver();
}

TEST_F(LinkRoleTest, ALinkWhoseHelloDoesNotComeIsClosed) {
  Start();
  Peer& stranger = Connect(false);
  Peer& refused = Connect(false);
  linkw::Hello bad;
  bad.client_name = "\xff";
  bad.role = Role::kObserver;
  refused.Send(bad);
  Peer& peer = ConnectObserver();
  refused.received().clear();
  Advance(absl::Seconds(6));
  ExpectLetGo(stranger, Status::kDeadlineExceeded);
  ExpectLetGo(refused, Status::kDeadlineExceeded);
  EXPECT_FALSE(peer.closed());
}

TEST_F(LinkRoleTest, AnInheritedLinkMayTakeItsTimeWithHello) {
  Start();
  Peer& peer = Connect(true, size_t{8} << 20, /*inherited=*/true);
  Advance(absl::Seconds(60));
  const uint64_t hello = peer.SendHello();
  Run();
  peer.Expect<linkw::HelloAck>(hello);
}

TEST_F(LinkRoleTest, WhatIsSentBehindHelloIsAnsweredAfterIt) {
  Start();
  for (const Role role : {Role::kObserver, Role::kDriver}) {
    Peer& peer = Connect(false);
    const uint64_t hello = peer.SendHello(role);
    const uint64_t ping = peer.Send(linkw::Ping{});
    Run();
    peer.Expect<linkw::HelloAck>(hello);
    peer.Expect<linkw::Pong>(ping);
  }
}

// The engine is inside a long step and has not cleaned up after the driver that has gone.
TEST_F(LinkRoleTest, ASecondWaitingDriverIsAnsweredWhenTheFirstGetsTheRole) {
  engine_options.emplace_back("slow_at_step", "2");
  engine_options.emplace_back("slow_us", "400000");
  Start();
  Peer& first = ConnectDriver();
  Peer* second = nullptr;
  Peer* third = nullptr;
  uint64_t hello = 0;
  clock_->inside_step = [&] {
    if (EngineSteps() != 2) return;
    clock_->inside_step = nullptr;
    first.HangUp();
    second = &Connect();
    hello = second->SendHello();
    Run();
    third = &Connect();
    third->SendHello();
    Advance(absl::Milliseconds(400));
  };
  SendTranscription(first, 1000);
  Run();
  ASSERT_NE(third, nullptr);
  second->Expect<linkw::HelloAck>(hello);
  ExpectLetGo(*third, Status::kBusy);
}

// ROLE-1: however long the engine takes, a driver is told that it may try again.
TEST_F(LinkRoleTest, ADriverThatWaitsForALongCleanUpIsToldToTryAgain) {
  config.engine_kill = absl::Minutes(10);
  Start();
  Peer& first = ConnectDriver();
  Peer* second = nullptr;
  clock_->inside_step = [&] {
    clock_->inside_step = nullptr;
    first.HangUp();
    second = &Connect();
    second->SendHello();
    Advance(absl::Seconds(61));
  };
  SendTranscription(first, 1000);
  Run();
  ASSERT_NE(second, nullptr);
  ExpectLetGo(*second, Status::kBusy);
}

}  // namespace
}  // namespace superfluid
