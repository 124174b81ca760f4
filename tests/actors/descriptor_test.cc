// Messages and the descriptors that they name, in any order: a whole worker in virtual time.

#include <cstdint>
#include <string>

#include "protocol/messages/status.h"
#include "shm/segment.h"
#include "tests/actors/worker_fixture.h"

namespace superfluid {
namespace {

using linkw::Status;

class DescriptorTest : public WorkerFixture {
 protected:
  void SendFds(Peer& peer, uint64_t first, uint64_t last) {
    for (uint64_t tag = first; tag <= last; ++tag) {
      peer.SendFd(tag, segment_.DuplicateFd()->get());
      if (tag % 32 == 0) Run();  // the channel in memory holds few
    }
  }
  static uint64_t Attach(Peer& peer, uint64_t id) {
    return peer.Send(linkw::BufAttach{.buf_id = linkw::BufId(id), .len = kBytes});
  }
  // Whether the worker knows a buffer with this id, at this moment.
  bool Knows(Peer& peer, uint64_t id) {
    EXPECT_TRUE(peer.empty());
    const uint64_t alloc = peer.Send(linkw::BufAlloc{.buf_id = linkw::BufId(id), .len = kBytes});
    Run();
    if (peer.empty()) return false;  // something holds it up
    const Status status = peer.Expect<linkw::BufAlloced>(alloc).status;
    if (status == Status::kOk) peer.Send(linkw::BufRelease{linkw::BufId(id)});
    return status == Status::kInvalidArgument;
  }

  static constexpr uint64_t kBytes = 100;
  Segment segment_ = *Segment::Create(kBytes, "test");
};

TEST_F(DescriptorTest, ALostDescriptorStopsOnlyTheMessageThatNamesIt) {
  Start();
  Peer& peer = ConnectDriver();
  SendFds(peer, 2, 11);
  const uint64_t lost = Attach(peer, 1);
  for (uint64_t id = 2; id <= 11; ++id) Attach(peer, id);
  Run();
  EXPECT_TRUE(peer.empty());
  Advance(absl::Milliseconds(5100));
  EXPECT_EQ(peer.Expect<linkw::Error>(lost).status, Status::kFailedPrecondition);
  for (uint64_t id = 2; id <= 11; ++id) EXPECT_TRUE(Knows(peer, id)) << id;
}

TEST_F(DescriptorTest, PatienceCountsFromTheArrivalOfEachMessage) {
  Start();
  Peer& peer = ConnectDriver();
  for (uint64_t id = 1; id <= 5; ++id) Attach(peer, id);
  const uint64_t call = peer.Send(linkw::StateSyncRequest{linkw::Capabilities{}});
  Run();
  Advance(absl::Seconds(1));
  const uint64_t late = Attach(peer, 6);
  Advance(absl::Milliseconds(3950));
  EXPECT_TRUE(peer.empty());
  Advance(absl::Milliseconds(100));
  for (uint64_t id = 1; id <= 5; ++id) {
    EXPECT_TRUE(std::holds_alternative<linkw::Error>(peer.Take().message)) << id;
  }
  EXPECT_EQ(peer.Expect<linkw::StateSyncResult>(call).status, Status::kOk);
  EXPECT_TRUE(peer.empty());
  Advance(absl::Seconds(1));
  EXPECT_EQ(peer.Expect<linkw::Error>(late).status, Status::kFailedPrecondition);
}

TEST_F(DescriptorTest, DescriptorsMayComeInTheReverseOrderOfTheirMessages) {
  Start();
  Peer& peer = ConnectDriver();
  SendFds(peer, 1, 100);
  for (uint64_t id = 100; id >= 1; --id) Attach(peer, id);
  Run();
  EXPECT_TRUE(peer.empty());
  for (uint64_t id = 1; id <= 100; ++id) EXPECT_TRUE(Knows(peer, id)) << id;
}

TEST_F(DescriptorTest, UnnamedDescriptorsNeverCostANamedOne) {
  config.limits.descriptor_credit = 8;
  Start();
  Peer& peer = ConnectDriver();
  SendFds(peer, 1, 2);
  SendFds(peer, 1000, 1040);
  SendFds(peer, 3, 3);
  Attach(peer, 3);
  Attach(peer, 2);
  Attach(peer, 1);
  Advance(absl::Milliseconds(200));
  EXPECT_TRUE(peer.empty());
  for (uint64_t id = 1; id <= 3; ++id) EXPECT_TRUE(Knows(peer, id)) << id;
}

TEST_F(DescriptorTest, WithoutASocketForDescriptorsNobodyWaitsForThem) {
  Start();
  Peer& peer = ConnectDriver();
  const uint64_t waiting = Attach(peer, 1);
  Run();
  EXPECT_TRUE(peer.empty());
  peer.HangUpDescriptors();
  Run();
  EXPECT_EQ(peer.Expect<linkw::Error>(waiting).status, Status::kFailedPrecondition);
  const uint64_t later = Attach(peer, 2);
  Run();
  EXPECT_EQ(peer.Expect<linkw::Error>(later).status, Status::kFailedPrecondition);
}

TEST_F(DescriptorTest, PingsAreReadBehindAllThatMayWait) {
  Start();
  Peer& peer = ConnectDriver();
  Attach(peer, 1);
  uint64_t call = 0;
  for (int i = 0; i < 300; ++i) {
    call = peer.Send(linkw::StateSyncRequest{linkw::Capabilities{}});
    if (i == 254) {  // as many wait as may
      const uint64_t ping = peer.Send(linkw::Ping{});
      peer.Send(linkw::TranscribeCancel{0});
      peer.Send(linkw::OpCancel{});
      Run();
      peer.Expect<linkw::Pong>(ping);
    }
  }
  Run();
  EXPECT_TRUE(peer.empty());
  SendFds(peer, 1, 1);
  Run();
  EXPECT_EQ(peer.received().size(), 300u);
  EXPECT_EQ(peer.received().back().correlation, call);
}

// END-3: the peer is killed while as much of it waits as may, so that the worker does not read it.
TEST_F(DescriptorTest, APeerThatIsGoneIsNoticedWhileItIsNotRead) {
  Start();
  Peer& peer = ConnectDriver();
  peer.Send(LiveRequest());
  Attach(peer, 1);
  for (int i = 0; i < 300; ++i) peer.Send(linkw::StateSyncRequest{linkw::Capabilities{}});
  Run();
  EXPECT_TRUE(peer.empty());
  EXPECT_EQ(progress_->open_transcriptions(), 1u);
  peer.HangUpFrames();
  Run();
  EXPECT_EQ(progress_->open_transcriptions(), 0u) << "its work is cancelled at once";
  ConnectDriver();  // the role is free
}

TEST_F(DescriptorTest, APeerThatIsGoneBehindCreditIsReadToItsEnd) {
  Start();
  Peer& peer = ConnectDriver();
  Attach(peer, 1);
  for (int i = 0; i < 300; ++i) peer.Send(linkw::StateSyncRequest{linkw::Capabilities{}});
  Run();
  SendFds(peer, 1, 1);
  Run();
  EXPECT_EQ(peer.received().size(), 300u) << "it is read again";
  peer.Send(linkw::DrainRequest{.shut_down = true});
  peer.HangUpFrames();
  Run();
  EXPECT_TRUE(exit_.has_value()) << "what was sent before the end took effect";
}

// What waits behind a missing descriptor is cancelled like what runs (CHAN-12, STT-4).
TEST_F(DescriptorTest, ACallThatWaitsIsAnsweredWhenItIsCancelled) {
  Start();
  Peer& peer = ConnectDriver();
  const uint64_t lost = Attach(peer, 1);
  const uint64_t one = SendTranscription(peer, 500);
  const uint64_t behind = peer.Send(linkw::StateSyncRequest{linkw::Capabilities{}});
  const uint64_t other = peer.Send(LiveRequest());
  peer.Send(linkw::TranscribeCancel{one});
  Run();
  EXPECT_EQ(peer.Expect<linkw::StateSyncResult>(one).status, Status::kCancelled);
  EXPECT_TRUE(peer.empty());
  peer.Send(linkw::TranscribeCancel{});
  Run();
  EXPECT_EQ(peer.Expect<linkw::StateSyncResult>(other).status, Status::kCancelled);
  EXPECT_TRUE(peer.empty()) << "the rest keeps its place";
  Advance(absl::Milliseconds(5100));
  EXPECT_EQ(peer.Expect<linkw::Error>(lost).status, Status::kFailedPrecondition);
  EXPECT_EQ(peer.Expect<linkw::StateSyncResult>(behind).status, Status::kOk);
  EXPECT_EQ(EngineSteps(), 0);
}

TEST_F(DescriptorTest, PingsAndCancelsAreReadBehindBulk) {
  Start();
  Peer& peer = Connect(true, /*capacity_bytes=*/size_t{64} << 20);
  peer.SendHello();
  const uint64_t seq = SendTranscription(peer, 500);
  const uint64_t live = peer.Send(LiveRequest());
  bool answered = false;
  clock_->inside_step = [&] {
    clock_->inside_step = nullptr;
    for (int i = 0; i < 2; ++i) {
      peer.Send(linkw::TranscribeAudio{.request_seq = live, .data = std::string(10 << 20, '\0')});
    }
    const uint64_t ping = peer.Send(linkw::Ping{});
    peer.Send(linkw::TranscribeCancel{seq});
    RunSome(100'000);
    peer.Read();
    for (const Received& received : peer.received()) answered |= received.correlation == ping;
  };
  Run();
  EXPECT_TRUE(answered);
  EXPECT_EQ(EngineSteps(), 1) << "the cancel was not read in time";
}

// Many streams in chunks of 20 ms: what waits for the engine stops nobody (ALWAYS-2, ALWAYS-7).
TEST_F(DescriptorTest, PingsAndCancelsAreReadBehindManySmallChunksOfAudio) {
  Start();
  Peer& peer = Connect(true, /*capacity_bytes=*/size_t{64} << 20);
  peer.SendHello();
  const uint64_t seq = SendTranscription(peer, 500);
  const uint64_t live = peer.Send(LiveRequest());
  bool answered = false;
  clock_->inside_step = [&] {
    clock_->inside_step = nullptr;
    for (int i = 0; i < 1000; ++i) {
      peer.Send(linkw::TranscribeAudio{.request_seq = live, .data = std::string(640, '\0')});
    }
    const uint64_t ping = peer.Send(linkw::Ping{});
    peer.Send(linkw::TranscribeCancel{seq});
    RunSome(100'000);
    peer.Read();
    for (const Received& received : peer.received()) answered |= received.correlation == ping;
  };
  Run();
  EXPECT_TRUE(answered);
  for (const Received& received : peer.received()) {
    if (received.correlation != seq) continue;
    const auto* answer = std::get_if<linkw::StateSyncResult>(&received.message);
    if (answer == nullptr) continue;
    EXPECT_EQ(answer->status, Status::kCancelled);
    EXPECT_EQ(std::get<linkw::TranscribeResult>(answer->reply).stats.engine_steps, 1u)
        << "the cancel was not read in time";
    return;
  }
  ADD_FAILURE() << "the transcription was not answered";
}

}  // namespace
}  // namespace superfluid
