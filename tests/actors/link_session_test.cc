// Handshake, health, roles, errors and the end of links: a whole worker in virtual time.

#include <string>

#include "actors/runtime/caf_compat.h"
#include "protocol/messages/status.h"
#include "tests/actors/worker_fixture.h"

namespace superfluid {
namespace {

using LinkSessionTest = WorkerFixture;

TEST_F(LinkSessionTest, HelloIsAnsweredWithWhatTheWorkerIs) {
  config.engine_bundle_hash[0] = 0xab;
  Start();
  Peer& peer = Connect(false);
  const uint64_t hello = peer.SendHello();
  Run();
  const auto ack = peer.Expect<linkw::HelloAck>(hello);
  EXPECT_EQ(ack.chosen_version, 8);
  EXPECT_EQ(ack.engine_bundle_hash[0], 0xab);
  EXPECT_NE(ack.capabilities_json.find("\"sim\""), std::string::npos);
  EXPECT_EQ(ack.limits.max_frame, linkw::kDefaultMaxFrame);
  EXPECT_EQ(ack.limits.op_window, 16u);
  ASSERT_EQ(ack.limits.ring_specs.size(), 3u);
  EXPECT_EQ(ack.limits.ring_specs[1].slots, 256u);
  EXPECT_EQ(ack.limits.max_transcriptions, 256u);
  EXPECT_EQ(ack.link_token, linkw::LinkToken{7});
}

TEST_F(LinkSessionTest, SequenceNumbersStartAtOneAndGrowByOne) {
  Start();
  Peer& peer = Connect();
  peer.SendHello();
  for (int i = 0; i < 5; ++i) peer.Send(linkw::Ping{});
  Run();
  for (uint64_t seq = 1; seq <= 6; ++seq) EXPECT_EQ(peer.Take().seq, seq);
}

TEST_F(LinkSessionTest, AMessageBeforeHelloEndsTheLinkWithOneError) {
  Start();
  Peer& peer = Connect();
  peer.Send(linkw::BufRelease{});
  Run();
  const auto error = peer.Expect<linkw::Error>(1);
  EXPECT_TRUE(error.fatal);
  EXPECT_EQ(error.status, linkw::Status::kProtocolError);
  EXPECT_NE(error.message.find("BUF_RELEASE before HELLO"), std::string::npos) << error.message;
  EXPECT_NE(error.message.find("seq 1"), std::string::npos) << error.message;
  EXPECT_TRUE(peer.empty());
  EXPECT_TRUE(peer.closed());
}

TEST_F(LinkSessionTest, ASecondHelloEndsTheLink) {
  Start();
  Peer& peer = ConnectDriver();
  const uint64_t again = peer.SendHello();
  Run();
  EXPECT_TRUE(peer.Expect<linkw::Error>(again).fatal);
  EXPECT_TRUE(peer.closed());
}

TEST_F(LinkSessionTest, NoCommonVersionIsSaidAndEndsTheLink) {
  Start();
  Peer& peer = Connect();
  linkw::Hello hello;
  hello.role = linkw::Role::kDriver;
  hello.proto_versions = {.min = 9, .max = 12};
  const uint64_t seq = peer.Send(hello);
  Run();
  const auto error = peer.Expect<linkw::Error>(seq);
  EXPECT_EQ(error.status, linkw::Status::kVersionMismatch);
  EXPECT_TRUE(peer.closed());
}

TEST_F(LinkSessionTest, ABrokenFrameEndsTheLinkAndTheNextLinkWorks) {
  Start();
  Peer& peer = ConnectDriver();
  peer.SendRaw(std::string(64, 'x'));
  Run();
  const auto error = peer.Expect<linkw::Error>(0);
  EXPECT_TRUE(error.fatal);
  EXPECT_NE(error.message.find("magic"), std::string::npos) << error.message;
  EXPECT_TRUE(peer.closed());
  Peer& next = ConnectDriver();
  const uint64_t ping = next.Send(linkw::Ping{});
  Run();
  next.Expect<linkw::Pong>(ping);
}

TEST_F(LinkSessionTest, AnUnknownRequiredMessageIsRefusedAndTheLinkStays) {
  Start();
  Peer& peer = ConnectDriver();
  peer.SendRaw(linkw::EncodeFrame({.type = 0x0777, .seq = 2}, "whatever"));
  peer.SendRaw(
      linkw::EncodeFrame({.type = static_cast<uint16_t>(linkw::MessageType::kPing), .seq = 3}, ""));
  Run();
  ASSERT_EQ(peer.received().size(), 2u);
  const auto error = peer.Expect<linkw::Error>(2);
  EXPECT_EQ(error.status, linkw::Status::kUnimplemented);
  EXPECT_FALSE(error.fatal);
  peer.Expect<linkw::Pong>(3);
}

TEST_F(LinkSessionTest, AnUnknownDroppableMessageIsSkipped) {
  Start();
  Peer& peer = ConnectDriver();
  peer.SendRaw(linkw::EncodeFrame({.type = 0x8777, .seq = 2}, "whatever"));
  peer.SendRaw(
      linkw::EncodeFrame({.type = static_cast<uint16_t>(linkw::MessageType::kPing), .seq = 3}, ""));
  Run();
  peer.Expect<linkw::Pong>(3);
  EXPECT_TRUE(peer.empty());
}

TEST_F(LinkSessionTest, ADroppableMessageThatGoesTheOtherWayIsSkipped) {
  Start();
  Peer& peer = Connect();
  peer.Send(linkw::Hello{.client_name = "test", .role = linkw::Role::kDriver});
  uint64_t seq = 1;
  for (const linkw::MessageType type :
       {linkw::MessageType::kTickEmit, linkw::MessageType::kTranscribeProgress}) {
    peer.SendRaw(linkw::EncodeFrame({.type = static_cast<uint16_t>(type), .seq = ++seq}, "any"));
  }
  peer.SendRaw(linkw::EncodeFrame(
      {.type = static_cast<uint16_t>(linkw::MessageType::kPong), .seq = ++seq}, ""));
  Run();
  peer.Expect<linkw::HelloAck>(1);
  EXPECT_EQ(peer.Expect<linkw::Error>(seq).status, linkw::Status::kUnimplemented);
  EXPECT_TRUE(peer.empty());
}

TEST_F(LinkSessionTest, ASecondDriverIsRefusedWithBusyAfterTheGrace) {
  Start();
  ConnectDriver();
  Peer& second = Connect();
  const uint64_t hello = second.SendHello();
  Run();
  EXPECT_TRUE(second.empty()) << "the first may be about to leave: wait for it a little";
  Advance(absl::Milliseconds(300));
  const auto error = second.Expect<linkw::Error>(hello);
  EXPECT_EQ(error.status, linkw::Status::kBusy);
  EXPECT_TRUE(second.closed());
}

TEST_F(LinkSessionTest, ADriverThatReconnectsAtOnceGetsTheRole) {
  Start();
  Peer& first = ConnectDriver();
  Peer& second = Connect();
  const uint64_t hello = second.SendHello();
  Run();
  first.HangUp();
  Run();
  second.Expect<linkw::HelloAck>(hello);
  Advance(absl::Seconds(1));
  EXPECT_TRUE(second.empty());
  EXPECT_FALSE(second.closed());
}

TEST_F(LinkSessionTest, ObserversMayLookButNotTouch) {
  Start();
  ConnectDriver();
  Peer& observer = ConnectObserver();
  const uint64_t ping = observer.Send(linkw::Ping{});
  const uint64_t capabilities = observer.Send(linkw::StateSyncRequest{linkw::Capabilities{}});
  const uint64_t work = observer.Send(LiveRequest());
  const uint64_t drain = observer.Send(linkw::DrainRequest{});
  Run();
  observer.Expect<linkw::Pong>(ping);
  EXPECT_EQ(observer.Expect<linkw::StateSyncResult>(capabilities).status, linkw::Status::kOk);
  EXPECT_EQ(observer.Expect<linkw::StateSyncResult>(work).status, linkw::Status::kPermissionDenied);
  EXPECT_EQ(observer.Expect<linkw::Error>(drain).status, linkw::Status::kPermissionDenied);
  EXPECT_FALSE(observer.closed());
}

TEST_F(LinkSessionTest, AStalledEngineIsReportedByPongAndThenFatal) {
  engine_options.emplace_back("stuck_at_step", "3");
  engine_options.emplace_back("stuck_ms", "60000");
  config.engine_stall = absl::Seconds(1);
  config.engine_kill = absl::Seconds(10);
  Start();
  Peer& peer = ConnectDriver();
  Peer& observer = ConnectObserver();
  linkw::Pong inside;
  // The step hangs: the rest of the worker goes on meanwhile, in a nested run of the scheduler.
  clock_->inside_step = [&] {
    if (EngineSteps() != 3) return;
    clock_->inside_step = nullptr;
    Advance(absl::Seconds(2));
    const uint64_t ping = observer.Send(linkw::Ping{});
    Run();
    inside = observer.Expect<linkw::Pong>(ping);
    Advance(absl::Seconds(9));
  };
  SendTranscription(peer, 1000);
  Run();
  EXPECT_EQ(inside.engine_state, linkw::EngineState::kStalled);
  EXPECT_GE(inside.step_age_us, 2'000'000u);
  ASSERT_EQ(stuck_.size(), 1u);
  EXPECT_GE(stuck_[0], absl::Seconds(10));
  ASSERT_TRUE(exit_.has_value());
  EXPECT_EQ(exit_->first, ExitCode::kEngineStalled);
}

TEST_F(LinkSessionTest, AnEngineWhoseStepsAreLongIsNotTakenForAStuckOne) {
  engine_options = {{"segment_ms", "100"}, {"steps_per_segment", "1"}, {"step_us", "2000000"}};
  config.engine_stall = absl::Seconds(1);
  config.engine_kill = absl::Seconds(2);
  Start();
  Peer& peer = ConnectDriver();
  Peer& observer = ConnectObserver();
  std::vector<linkw::EngineState> inside;
  clock_->inside_step = [&] {
    clock_->inside_step = nullptr;
    for (int i = 0; i < 2; ++i) {
      Advance(absl::Seconds(3));  // 3 s, then 6: less, then more than twice what it expects
      const uint64_t ping = observer.Send(linkw::Ping{});
      Run();
      inside.push_back(observer.Expect<linkw::Pong>(ping).engine_state);
    }
    Advance(absl::Seconds(3));  // 9 s: less than five times
  };
  SendTranscription(peer, 100);
  Run();
  EXPECT_EQ(inside, (std::vector{linkw::EngineState::kBusy, linkw::EngineState::kStalled}));
  EXPECT_TRUE(stuck_.empty());
  EXPECT_FALSE(exit_.has_value());
}

TEST_F(LinkSessionTest, AnEngineThatThrowsEndsTheWorkerAndEveryLinkIsTold) {
  engine_options.emplace_back("throw_at_step", "2");
  Start();
  Peer& peer = ConnectDriver();
  Peer& observer = ConnectObserver();
  SendTranscription(peer, 1000);
  Run();
  Advance(absl::Seconds(2));
  ASSERT_FALSE(peer.empty());
  const auto error = std::get<linkw::Error>(peer.received().back().message);
  EXPECT_EQ(error.status, linkw::Status::kEngineFailed);
  EXPECT_TRUE(error.fatal);
  EXPECT_EQ(observer.Expect<linkw::Error>(0).status, linkw::Status::kEngineFailed);
  ASSERT_TRUE(exit_.has_value());
  EXPECT_EQ(exit_->first, ExitCode::kEngineFailed);
}

TEST_F(LinkSessionTest, AnEngineThatDoesNotLoadIsAnErrorOfStart) {
  config.make_engine = [] { return absl::NotFoundError("no such model"); };
  supervisor_ =
      compat::Spawn(*system_, compat::Placement::kPooled, SupervisorBehavior, config, progress_);
  caf::scoped_actor self(*system_);
  auto request = self->request(supervisor_, std::chrono::seconds(1), StartWorker{});
  RunSome(1000);
  absl::Status status;
  request.receive([](const WorkerStarted&) {},
                  [&](const caf::error& error) { status = ToStatus(error); });
  EXPECT_TRUE(absl::IsNotFound(status)) << status;
  EXPECT_EQ(status.message(), "no such model");
}

TEST_F(LinkSessionTest, OnDisconnectExitEndsTheWorkerWithTheDriver) {
  config.on_disconnect = OnDisconnect::kExit;
  Start();
  Peer& observer = ConnectObserver();
  observer.HangUp();
  Run();
  EXPECT_FALSE(exit_.has_value()) << "an observer is not the driver";
  Peer& driver = ConnectDriver();
  driver.HangUp();
  Run();
  Advance(absl::Seconds(2));
  ASSERT_TRUE(exit_.has_value());
  EXPECT_EQ(exit_->first, ExitCode::kOk);
}

TEST_F(LinkSessionTest, ShutDownTellsIdleLinksAndExits) {
  Start();
  Peer& peer = ConnectDriver();
  compat::SendFromOutside(supervisor_, ShutDown{.patience = absl::Seconds(30)});
  Run();
  const auto error = peer.Expect<linkw::Error>(0);
  EXPECT_EQ(error.status, linkw::Status::kDraining);
  EXPECT_TRUE(peer.closed());
  ASSERT_TRUE(exit_.has_value());
  EXPECT_EQ(exit_->first, ExitCode::kOk);
}

}  // namespace
}  // namespace superfluid
