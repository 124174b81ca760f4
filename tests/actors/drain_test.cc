// Drains, the worker's own end, and what is refused: a whole worker in virtual time.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "actors/runtime/caf_compat.h"
#include "protocol/messages/status.h"
#include "tests/actors/fake_generation.h"
#include "tests/actors/worker_fixture.h"

namespace superfluid {
namespace {

using linkw::Status;
using DrainTest = WorkerFixture;
using LimitsTest = WorkerFixture;

TEST_F(DrainTest, DrainFinishesWhatIsOpenAndRefusesWhatIsNew) {
  Start();
  Peer& peer = ConnectDriver();
  const uint64_t open = SendTranscription(peer, 500);
  const uint64_t drain = peer.Send(linkw::DrainRequest{});
  const uint64_t late = peer.Send(LiveRequest());
  const uint64_t ping = peer.Send(linkw::Ping{});
  Run();
  std::vector<uint64_t> finals;
  for (const Received& received : peer.received()) {
    if (const auto* answer = std::get_if<linkw::StateSyncResult>(&received.message)) {
      EXPECT_EQ(answer->status, received.correlation == open ? Status::kOk : Status::kDraining);
      finals.push_back(received.correlation);
    } else if (const auto* pong = std::get_if<linkw::Pong>(&received.message)) {
      EXPECT_EQ(received.correlation, ping);
      EXPECT_NE(pong->engine_state, linkw::EngineState::kFailed);
    }
  }
  EXPECT_EQ(finals, (std::vector<uint64_t>{late, open}));
  const Received last = peer.received().back();
  EXPECT_EQ(last.correlation, drain);
  const auto drained = std::get<linkw::Drained>(last.message);
  EXPECT_EQ(drained.finished, 1u);
  EXPECT_EQ(drained.cancelled, 0u);
}

TEST_F(DrainTest, ABufferThatIsBeingMadeIsOpen) {
  Start();
  Peer& peer = ConnectDriver();
  const uint64_t alloc = peer.Send(linkw::BufAlloc{.buf_id = linkw::BufId(1), .len = 100});
  const uint64_t drain = peer.Send(linkw::DrainRequest{});
  Run();
  EXPECT_EQ(peer.Expect<linkw::BufAlloced>(alloc).status, Status::kOk);
  peer.Expect<linkw::Drained>(drain);
}

TEST_F(DrainTest, DrainCancelsAtItsDeadline) {
  Start();
  Peer& peer = ConnectDriver();
  const uint64_t open = peer.Send(LiveRequest());  // its audio never comes
  const uint64_t drain = peer.Send(linkw::DrainRequest{.deadline_ms = 50});
  Run();
  EXPECT_TRUE(peer.empty());
  Advance(absl::Milliseconds(60));
  EXPECT_EQ(peer.Expect<linkw::StateSyncResult>(open).status, Status::kCancelled);
  const auto drained = peer.Expect<linkw::Drained>(drain);
  EXPECT_EQ(drained.finished, 0u);
  EXPECT_EQ(drained.cancelled, 1u);
}

TEST_F(DrainTest, ShutDownWaitsForOpenWorkThenCancelsIt) {
  Start();
  Peer& peer = ConnectDriver();
  const uint64_t open = peer.Send(LiveRequest());
  Run();
  compat::SendFromOutside(supervisor_, ShutDown{.patience = absl::Milliseconds(100)});
  Run();
  EXPECT_FALSE(exit_.has_value());
  Advance(absl::Milliseconds(200));
  EXPECT_EQ(peer.Expect<linkw::StateSyncResult>(open).status, Status::kCancelled);
  EXPECT_TRUE(peer.Expect<linkw::Error>(0).fatal);
  ASSERT_TRUE(exit_.has_value());
  EXPECT_EQ(exit_->first, ExitCode::kDrainCut);
}

TEST_F(DrainTest, AShutDownThatIsToldToCancelDidWhatItWasTold) {
  Start();
  Peer& peer = ConnectDriver();
  const uint64_t open = peer.Send(LiveRequest());
  Run();
  compat::SendFromOutside(
      supervisor_, ShutDown{.scope = DrainScope::kEverything, .patience = absl::Milliseconds(100)});
  Run();
  EXPECT_EQ(peer.Expect<linkw::StateSyncResult>(open).status, Status::kCancelled);
  ASSERT_TRUE(exit_.has_value());
  EXPECT_EQ(exit_->first, ExitCode::kOk);
}

TEST_F(DrainTest, AShutDownInWhichTheDriverItselfCancelsIsWhole) {
  Start();
  Peer& peer = ConnectDriver();
  const uint64_t open = peer.Send(LiveRequest());
  Run();
  compat::SendFromOutside(supervisor_, ShutDown{.patience = absl::Seconds(10)});
  peer.Send(linkw::TranscribeCancel{.request_seq = open});
  Run();
  EXPECT_EQ(peer.Expect<linkw::StateSyncResult>(open).status, Status::kCancelled);
  ASSERT_TRUE(exit_.has_value());
  EXPECT_EQ(exit_->first, ExitCode::kOk);
}

TEST_F(DrainTest, AnObserverMayAskForTheWorkersEndAndHearsHowItWent) {
  Start();
  Peer& driver = ConnectDriver();
  Peer& observer = ConnectObserver();
  const uint64_t open = SendTranscription(driver, 500);
  const uint64_t plain = observer.Send(linkw::DrainRequest{});
  const uint64_t drain = observer.Send(linkw::DrainRequest{.shut_down = true});
  const uint64_t ping = observer.Send(linkw::Ping{});
  Run();
  EXPECT_EQ(observer.Expect<linkw::Error>(plain).status, Status::kPermissionDenied);
  observer.Expect<linkw::Pong>(ping);
  EXPECT_EQ(TakeAll(driver, open).status, Status::kOk);
  EXPECT_TRUE(driver.Expect<linkw::Error>(0).fatal);
  EXPECT_EQ(observer.Expect<linkw::Drained>(drain).finished, 1u);
  ASSERT_TRUE(exit_.has_value());
  EXPECT_EQ(exit_->first, ExitCode::kOk);
}

TEST_F(DrainTest, AShutDownCancelsWhatIsOpenAtItsDeadline) {
  Start();
  Peer& driver = ConnectDriver();
  const uint64_t open = driver.Send(LiveRequest());  // its audio never comes
  const uint64_t drain = driver.Send(linkw::DrainRequest{.deadline_ms = 50, .shut_down = true});
  Run();
  Advance(absl::Milliseconds(100));
  EXPECT_EQ(driver.Expect<linkw::StateSyncResult>(open).status, Status::kCancelled);
  EXPECT_EQ(driver.Expect<linkw::Drained>(drain).cancelled, 1u);
  EXPECT_TRUE(exit_.has_value());
}

// SIGSTOP, a debugger, a frozen container: nothing could end meanwhile.
TEST_F(DrainTest, APauseOfTheProcessIsNoShutDownThatHangs) {
  Start();
  Peer& driver = ConnectDriver();
  const uint64_t open = SendTranscription(driver, 500);
  const uint64_t drain = driver.Send(linkw::DrainRequest{.deadline_ms = 1000, .shut_down = true});
  clock_->inside_step = [&] {
    clock_->inside_step = nullptr;
    scheduler_->advance_time(std::chrono::hours(1));
  };
  Run();
  Advance(absl::Milliseconds(600));
  EXPECT_EQ(TakeAll(driver, open).status, Status::kCancelled);
  EXPECT_EQ(driver.Expect<linkw::Drained>(drain).cancelled, 1u);
  ASSERT_TRUE(exit_.has_value());
  EXPECT_EQ(exit_->first, ExitCode::kDrainCut) << exit_->second;
}

TEST_F(DrainTest, AShutDownKeepsTheDeadlineOfTheDrainThatItTakesOver) {
  Start();
  Peer& driver = ConnectDriver();
  Peer& observer = ConnectObserver();
  const uint64_t open = driver.Send(LiveRequest());  // its audio never comes
  const uint64_t drain = driver.Send(linkw::DrainRequest{.deadline_ms = 50});
  Run();
  observer.Send(linkw::DrainRequest{.shut_down = true});
  Run();
  Advance(absl::Milliseconds(60));
  EXPECT_EQ(driver.Expect<linkw::StateSyncResult>(open).status, Status::kCancelled);
  EXPECT_EQ(driver.Expect<linkw::Drained>(drain).cancelled, 1u);
  EXPECT_TRUE(exit_.has_value());
}

TEST_F(DrainTest, AShutDownKeepsTheCountsOfTheDrainThatItTakesOver) {
  Start();
  Peer& driver = ConnectDriver();
  Peer& observer = ConnectObserver();
  const uint64_t first = SendTranscription(driver, 100);
  const uint64_t second = driver.Send(LiveRequest());
  const uint64_t drain = driver.Send(linkw::DrainRequest{});
  Run();
  EXPECT_EQ(TakeAll(driver, first).status, Status::kOk);
  observer.Send(linkw::DrainRequest{.deadline_ms = 50, .shut_down = true});
  Run();
  Advance(absl::Milliseconds(60));
  EXPECT_EQ(driver.Expect<linkw::StateSyncResult>(second).status, Status::kCancelled);
  const auto drained = driver.Expect<linkw::Drained>(drain);
  EXPECT_EQ(drained.finished, 1u);
  EXPECT_EQ(drained.cancelled, 1u);
}

TEST_F(DrainTest, AShutDownCountsWhatWasOpenWhenItWasAskedFor) {
  Start();
  Peer& driver = ConnectDriver();
  ConnectObserver();  // is drained first
  const uint64_t open = SendTranscription(driver, 100);
  const uint64_t drain = driver.Send(linkw::DrainRequest{.shut_down = true});
  Run();
  EXPECT_EQ(TakeAll(driver, open).status, Status::kOk);
  EXPECT_EQ(driver.Expect<linkw::Drained>(drain).finished, 1u);
  EXPECT_TRUE(exit_.has_value());
}

// The driver was told of it, and goes while the worker is shut down.
TEST_F(DrainTest, ADrainOfALinkAloneIsNotCountedByALaterShutDown) {
  Start();
  Peer& driver = ConnectDriver();
  Peer& observer = ConnectObserver();
  const uint64_t open = SendTranscription(driver, 100);
  const uint64_t drain = driver.Send(linkw::DrainRequest{});
  Run();
  EXPECT_EQ(TakeAll(driver, open).status, Status::kOk);
  EXPECT_EQ(driver.Expect<linkw::Drained>(drain).finished, 1u);
  const uint64_t shut_down = observer.Send(linkw::DrainRequest{.shut_down = true});
  driver.HangUp();
  Run();
  EXPECT_EQ(observer.Expect<linkw::Drained>(shut_down).finished, 0u);
  EXPECT_TRUE(exit_.has_value());
}

TEST_F(DrainTest, AWorkerEndsWithItsInheritedLinkEvenBeforeAHandshake) {
  Start();
  Peer& peer = Connect(false, 1 << 20, /*inherited=*/true);
  Run();
  EXPECT_FALSE(exit_.has_value());
  peer.HangUp();
  Run();
  ASSERT_TRUE(exit_.has_value());
  EXPECT_EQ(exit_->first, ExitCode::kOk);
}

TEST_F(LimitsTest, TooManyTranscriptionsAreAnsweredBusy) {
  config.limits.max_transcriptions = 3;
  Start();
  Peer& peer = ConnectDriver();
  for (int i = 0; i < 3; ++i) peer.Send(LiveRequest());
  const uint64_t fourth = peer.Send(LiveRequest());
  Run();
  EXPECT_EQ(peer.Expect<linkw::StateSyncResult>(fourth).status, Status::kBusy);
  EXPECT_TRUE(peer.empty());
}

TEST_F(LimitsTest, TooManyUnreadBytesEndTheLinkOfAPeerThatDoesNotRead) {
  config.limits.unsent_bytes = size_t{32} << 10;
  Start();
  Peer& deaf = Connect(true, /*capacity_bytes=*/size_t{16} << 10);
  deaf.SendHello();
  for (int i = 0; i < 200; ++i) deaf.Send(linkw::StateSyncRequest{linkw::Capabilities{}});
  RunSome(100'000);  // the peer reads nothing
  Peer& next = ConnectDriver();
  EXPECT_FALSE(next.closed()) << "the deaf peer's link did not end";
}

TEST_F(LimitsTest, TooMuchUnreadLiveAudioEndsThatRequestOnly) {
  engine_options.emplace_back("max_transcriptions", "1");
  Start();
  Peer& peer = ConnectDriver();
  const uint64_t running = peer.Send(LiveRequest());
  peer.Send(linkw::TranscribeAudio{.request_seq = running, .data = Noise(50)});  // takes the place
  Run();
  const uint64_t waiting = peer.Send(LiveRequest());
  for (int i = 0; i < 4; ++i) {
    peer.Send(linkw::TranscribeAudio{.request_seq = waiting, .data = std::string(200'000, 'a')});
    Run();
  }
  for (int i = 0; i < 4; ++i) {
    peer.Send(linkw::TranscribeAudio{.request_seq = waiting, .data = std::string(200'000, 'a')});
    Run();
  }
  EXPECT_EQ(peer.Expect<linkw::StateSyncResult>(waiting).status, Status::kOutOfMemory);
  peer.Send(
      linkw::TranscribeAudio{.request_seq = running, .data = Noise(200), .end_of_stream = true});
  Run();
  EXPECT_EQ(TakeAll(peer, running).status, Status::kOk);
}

TEST_F(LimitsTest, LiveAudioIsBoundedInBytesAndTheLargestRequestEnds) {
  config.live_audio_bytes = 100'000;
  Start();
  Peer& peer = ConnectDriver();
  const uint64_t busy = SendTranscription(peer, 100);
  uint64_t greedy = 0;
  uint64_t modest = 0;
  clock_->inside_step = [&] {  // the engine takes no audio meanwhile
    clock_->inside_step = nullptr;
    greedy = peer.Send(LiveRequest());
    peer.Send(linkw::TranscribeAudio{.request_seq = greedy, .data = std::string(90'000, 'a')});
    modest = peer.Send(LiveRequest());
    peer.Send(linkw::TranscribeAudio{
        .request_seq = modest, .data = std::string(20'000, 'a'), .end_of_stream = true});
    RunSome(100'000);
  };
  Run();
  std::map<uint64_t, Status> answers;
  for (const Received& received : peer.received()) {
    const auto* answer = std::get_if<linkw::StateSyncResult>(&received.message);
    if (answer != nullptr) answers[received.correlation] = answer->status;
  }
  EXPECT_EQ(answers,
            (std::map<uint64_t, Status>{
                {busy, Status::kOk}, {greedy, Status::kOutOfMemory}, {modest, Status::kOk}}));
}

TEST_F(LimitsTest, ANonUtf8LanguageIsARequestError) {
  Start();
  Peer& peer = ConnectDriver();
  linkw::StateSyncRequest request = LiveRequest();
  std::get<linkw::Transcribe>(request.call).language = "\xff\xfe";
  const uint64_t seq = peer.Send(request);
  Run();
  const auto answer = peer.Expect<linkw::StateSyncResult>(seq);
  EXPECT_EQ(answer.status, Status::kInvalidArgument);
  EXPECT_NE(answer.message.find("language"), std::string::npos) << answer.message;
  EXPECT_FALSE(peer.closed());
}

TEST_F(LimitsTest, AFileOutsideTheMediaRootIsRefused) {
  config.media_root = "/proc/self/fdinfo";  // some folder that exists
  Start();
  Peer& peer = ConnectDriver();
  linkw::Transcribe transcribe;
  transcribe.audio = linkw::AudioPath{"/etc/passwd"};
  const uint64_t seq = peer.Send(linkw::StateSyncRequest{transcribe});
  Run();
  EXPECT_EQ(peer.Expect<linkw::StateSyncResult>(seq).status, Status::kPermissionDenied);
}

TEST_F(LimitsTest, CallsThatTheEngineLacksAreUnsupported) {
  config.make_engine = [] { return std::make_unique<FakeEngine>(false); };
  Start();
  Peer& peer = ConnectDriver();
  const uint64_t embed = peer.Send(linkw::StateSyncRequest{linkw::Embed{.tokens = {1, 2}}});
  const uint64_t tick = peer.Send(linkw::TickSubmit{});
  Run();
  std::set<uint64_t> answered;
  while (!peer.empty()) {
    const Received received = peer.Take();
    answered.insert(received.correlation);
    if (received.correlation == embed) {
      EXPECT_EQ(std::get<linkw::StateSyncResult>(received.message).status, Status::kUnsupported);
    } else {
      EXPECT_EQ(std::get<linkw::TickResult>(received.message).status, Status::kUnsupported);
    }
  }
  EXPECT_EQ(answered, (std::set<uint64_t>{embed, tick}));
}

}  // namespace
}  // namespace superfluid
