// Descriptors, rings, the control segment and buffers: a whole worker in virtual time.

#include <cstring>
#include <string>

#include "protocol/messages/status.h"
#include "shm/control.h"
#include "shm/ring.h"
#include "shm/segment.h"
#include "tests/actors/worker_fixture.h"

namespace superfluid {
namespace {

using linkw::Status;

class MemoryTest : public WorkerFixture {
 protected:
  static Segment MakeSegment(const std::string& contents) {
    Segment segment = *Segment::Create(contents.size(), "test");
    std::memcpy(segment.data(), contents.data(), contents.size());
    return segment;
  }
  static linkw::StateSyncRequest BufferRequest(uint64_t id, uint64_t length) {
    linkw::Transcribe transcribe;
    transcribe.audio =
        linkw::AudioBuffer{.buf_id = linkw::BufId(id),
                           .length = length,
                           .format = linkw::PcmFormat{.sample_rate_hz = 16000, .channels = 1}};
    return {transcribe};
  }
  static linkw::RingAttach Attach(const RingSpec& spec) {
    return {.ring_id = linkw::RingId(spec.id),
            .layout = {.ring_id = linkw::RingId(spec.id),
                       .kind = spec.id == 3 ? linkw::RingKind::kLogits : linkw::RingKind::kTokens,
                       .slot_bytes = spec.slot_bytes,
                       .slots = spec.slots}};
  }
  void SendSegmentFd(Peer& peer, uint64_t tag, const Segment& segment) {
    peer.SendFd(tag, segment.DuplicateFd()->get());
  }
};

TEST_F(MemoryTest, ABufferIsTranscribedAndMayBeReleasedRightAfterTheRequest) {
  Start();
  Peer& peer = ConnectDriver();
  const std::string pcm = Noise(500);
  SendSegmentFd(peer, 9, MakeSegment(pcm));
  peer.Send(linkw::BufAttach{.buf_id = linkw::BufId(9), .len = pcm.size()});
  const uint64_t seq = peer.Send(BufferRequest(9, pcm.size()));
  peer.Send(linkw::BufRelease{linkw::BufId(9)});
  const uint64_t after = peer.Send(BufferRequest(9, pcm.size()));
  Run();
  bool done = false;
  for (const Received& received : peer.received()) {
    const auto& answer = std::get<linkw::StateSyncResult>(received.message);
    if (received.correlation == after) {
      EXPECT_EQ(answer.status, Status::kUnknownHandle);
    } else {
      EXPECT_EQ(received.correlation, seq);
      EXPECT_EQ(answer.status, Status::kOk);
      EXPECT_EQ(std::get<linkw::TranscribeResult>(answer.reply).duration_ms, 500);
      done = true;
    }
  }
  EXPECT_TRUE(done);
}

TEST_F(MemoryTest, AMessageWaitsForItsDescriptorAndPingsDoNot) {
  Start();
  Peer& peer = ConnectDriver();
  const std::string pcm = Noise(200);
  peer.Send(linkw::BufAttach{.buf_id = linkw::BufId(4), .len = pcm.size()});
  const uint64_t seq = peer.Send(BufferRequest(4, pcm.size()));
  const uint64_t ping = peer.Send(linkw::Ping{});
  Run();
  peer.Expect<linkw::Pong>(ping);
  EXPECT_TRUE(peer.empty()) << "the request must wait behind the buffer that it names";
  SendSegmentFd(peer, 4, MakeSegment(pcm));
  Run();
  EXPECT_EQ(peer.Expect<linkw::StateSyncResult>(seq).status, Status::kOk);
}

TEST_F(MemoryTest, ACancelReachesARequestThatIsHeldBack) {
  Start();
  Peer& peer = ConnectDriver();
  peer.Send(linkw::BufAttach{.buf_id = linkw::BufId(4), .len = 100});
  const uint64_t seq = peer.Send(BufferRequest(4, 100));
  peer.Send(linkw::TranscribeCancel{seq});
  Run();
  SendSegmentFd(peer, 4, MakeSegment(std::string(100, 'x')));
  Run();
  const auto answer = peer.Expect<linkw::StateSyncResult>(seq);
  EXPECT_EQ(answer.status, Status::kCancelled);
  EXPECT_TRUE(std::holds_alternative<linkw::TranscribeResult>(answer.reply)) << "STT-1";
  EXPECT_TRUE(peer.empty());
}

TEST_F(MemoryTest, ARequestThatNamesNoStopWordThereIsHasAResult) {
  Start();
  Peer& peer = ConnectDriver();
  linkw::StateSyncRequest request = BufferRequest(4, 100);
  std::get<linkw::Transcribe>(request.call).control_slot = 1025;
  const uint64_t seq = peer.Send(request);
  Run();
  const auto answer = peer.Expect<linkw::StateSyncResult>(seq);
  EXPECT_EQ(answer.status, Status::kInvalidArgument);
  EXPECT_TRUE(std::holds_alternative<linkw::TranscribeResult>(answer.reply)) << "STT-1";
}

TEST_F(MemoryTest, ACancelReachesACallThatIsHeldBack) {
  Start();
  Peer& peer = ConnectDriver();
  peer.Send(linkw::BufAttach{.buf_id = linkw::BufId(4), .len = 100});
  const uint64_t named = peer.Send(linkw::StateSyncRequest{linkw::CreateSequence{}});
  const uint64_t other = peer.Send(linkw::StateSyncRequest{linkw::CreateSequence{}});
  peer.Send(linkw::TranscribeCancel{named});
  peer.Send(linkw::TranscribeCancel{0});  // of all transcriptions, which these are not
  Run();
  SendSegmentFd(peer, 4, MakeSegment(std::string(100, 'x')));
  Run();
  EXPECT_EQ(peer.Expect<linkw::StateSyncResult>(named).status, Status::kCancelled);
  EXPECT_EQ(peer.Expect<linkw::StateSyncResult>(other).status, Status::kOk);
}

// STT-6: a deadline counts from the receipt of the request.
TEST_F(MemoryTest, ADeadlineCountsWhileItsRequestIsHeldBack) {
  Start();
  Peer& peer = ConnectDriver();
  const std::string pcm = Noise(200);
  peer.Send(linkw::BufAttach{.buf_id = linkw::BufId(4), .len = pcm.size()});
  linkw::StateSyncRequest request = BufferRequest(4, pcm.size());
  std::get<linkw::Transcribe>(request.call).deadline_ms = 50;
  const uint64_t seq = peer.Send(request);
  Run();
  Advance(absl::Seconds(1));
  SendSegmentFd(peer, 4, MakeSegment(pcm));
  Run();
  Advance(absl::Milliseconds(1));
  EXPECT_EQ(peer.Expect<linkw::StateSyncResult>(seq).status, Status::kDeadlineExceeded);
}

TEST_F(MemoryTest, TheWaitForADescriptorIsNotProlongedByAnOlderTimer) {
  Start();
  Peer& peer = ConnectDriver();
  SendSegmentFd(peer, 9, MakeSegment("x"));  // starts a timer
  peer.Send(linkw::BufAttach{.buf_id = linkw::BufId(9), .len = 1});
  Run();
  Advance(absl::Milliseconds(100));
  const uint64_t attach = peer.Send(linkw::BufAttach{.buf_id = linkw::BufId(4), .len = 100});
  Run();
  Advance(absl::Milliseconds(4950));
  EXPECT_TRUE(peer.empty());
  Advance(absl::Milliseconds(100));
  EXPECT_EQ(peer.Expect<linkw::Error>(attach).status, Status::kFailedPrecondition);
}

TEST_F(MemoryTest, ADescriptorThatNeverComesIsAnErrorAndTheLinkGoesOn) {
  Start();
  Peer& peer = ConnectDriver();
  const uint64_t attach = peer.Send(linkw::BufAttach{.buf_id = linkw::BufId(4), .len = 100});
  const uint64_t seq = SendTranscription(peer, 100);
  Run();
  EXPECT_TRUE(peer.empty());
  Advance(absl::Seconds(6));
  const auto error = peer.Expect<linkw::Error>(attach);
  EXPECT_EQ(error.status, Status::kFailedPrecondition);
  EXPECT_FALSE(error.fatal);
  EXPECT_EQ(peer.Take().correlation, seq);
}

TEST_F(MemoryTest, UnclaimedDescriptorsAreFewAndExpire) {
  config.limits.descriptor_credit = 16;
  Start();
  Peer& peer = ConnectDriver();
  const Segment segment = MakeSegment("x");
  for (uint64_t tag = 100; tag < 140; ++tag) SendSegmentFd(peer, tag, segment);
  Run();
  // 16 are held and the rest waits in the channel; all expire in turn.
  Advance(absl::Seconds(20));
  const std::string pcm = Noise(100);
  SendSegmentFd(peer, 4, MakeSegment(pcm));
  peer.Send(linkw::BufAttach{.buf_id = linkw::BufId(4), .len = pcm.size()});
  const uint64_t seq = peer.Send(BufferRequest(4, pcm.size()));
  Run();
  EXPECT_EQ(peer.Expect<linkw::StateSyncResult>(seq).status, Status::kOk);
}

TEST_F(MemoryTest, AnUnsealedBufferIsRefused) {
  Start();
  Peer& peer = ConnectDriver();
  const int pipe_end = dup(0);
  peer.SendFd(4, pipe_end);
  close(pipe_end);
  const uint64_t attach = peer.Send(linkw::BufAttach{.buf_id = linkw::BufId(4), .len = 100});
  Run();
  const auto error = peer.Expect<linkw::Error>(attach);
  EXPECT_EQ(error.status, Status::kInvalidArgument);
  EXPECT_FALSE(error.fatal);
}

TEST_F(MemoryTest, ASpanBeyondTheBufferIsRefused) {
  Start();
  Peer& peer = ConnectDriver();
  SendSegmentFd(peer, 4, MakeSegment(std::string(100, 'x')));
  peer.Send(linkw::BufAttach{.buf_id = linkw::BufId(4), .len = 100});
  const uint64_t longer = peer.Send(BufferRequest(4, 101));
  Run();
  EXPECT_EQ(peer.Expect<linkw::StateSyncResult>(longer).status, Status::kInvalidArgument);
  linkw::StateSyncRequest overflow = BufferRequest(4, UINT64_MAX);
  std::get<linkw::AudioBuffer>(std::get<linkw::Transcribe>(overflow.call).audio).offset = 2;
  const uint64_t wraps = peer.Send(overflow);
  Run();
  EXPECT_EQ(peer.Expect<linkw::StateSyncResult>(wraps).status, Status::kInvalidArgument);
}

TEST_F(MemoryTest, TheWorkerAllocatesABufferAndPassesItOn) {
  Start();
  Peer& peer = ConnectDriver();
  const std::string pcm = Noise(200);
  const uint64_t alloc = peer.Send(linkw::BufAlloc{.buf_id = linkw::BufId(5), .len = pcm.size()});
  Run();
  const auto alloced = peer.Expect<linkw::BufAlloced>(alloc);
  ASSERT_EQ(alloced.status, Status::kOk) << alloced.message;
  std::optional<TaggedFd> received = peer.ReceiveFd();
  ASSERT_TRUE(received.has_value());
  EXPECT_EQ(received->tag, 5u);
  absl::StatusOr<Segment> mapped =
      Segment::Attach(std::move(received->fd), pcm.size(), SegmentAccess::kReadWrite);
  ASSERT_TRUE(mapped.ok()) << mapped.status();
  std::memcpy(mapped->data(), pcm.data(), pcm.size());
  const uint64_t seq = peer.Send(BufferRequest(5, pcm.size()));
  Run();
  EXPECT_EQ(peer.Expect<linkw::StateSyncResult>(seq).status, Status::kOk);
  const uint64_t again = peer.Send(linkw::BufAlloc{.buf_id = linkw::BufId(5), .len = 10});
  Run();
  EXPECT_EQ(peer.Expect<linkw::BufAlloced>(again).status, Status::kInvalidArgument);
  const uint64_t huge = peer.Send(linkw::BufAlloc{.buf_id = linkw::BufId(6), .len = 1ull << 60});
  Run();
  EXPECT_EQ(peer.Expect<linkw::BufAlloced>(huge).status, Status::kOutOfMemory);
}

TEST_F(MemoryTest, BufAllocWithoutADescriptorChannelIsRefused) {
  Start();
  Peer& peer = ConnectDriver(false);
  const uint64_t alloc = peer.Send(linkw::BufAlloc{.buf_id = linkw::BufId(5), .len = 10});
  Run();
  EXPECT_EQ(peer.Expect<linkw::BufAlloced>(alloc).status, Status::kFailedPrecondition);
}

TEST_F(MemoryTest, AllThreeRingsAttachInAnyOrder) {
  Start();
  Peer& peer = ConnectDriver();
  for (const RingSpec& spec : {kLogitsRing, kTokenInRing, kTokenOutRing}) {
    SendSegmentFd(peer, spec.id, *Segment::Create(*RingBytes(spec), "ring"));
    const uint64_t seq = peer.Send(Attach(spec));
    Run();
    const auto ack = peer.Expect<linkw::RingAck>(seq);
    EXPECT_EQ(ack.ring_id, linkw::RingId(spec.id));
    EXPECT_EQ(ack.generation_base, 1u);
  }
  // The rings are there; this tick has no lanes.
  const uint64_t tick = peer.Send(linkw::TickSubmit{});
  Run();
  EXPECT_EQ(peer.Expect<linkw::TickResult>(tick).status, Status::kInvalidArgument);
}

TEST_F(MemoryTest, AnUnknownRingOrALayoutOfAnotherShapeIsRefused) {
  Start();
  Peer& peer = ConnectDriver();
  const uint64_t unknown = peer.Send(Attach({.id = 7, .slot_bytes = 64, .slots = 4}));
  Run();
  EXPECT_EQ(peer.Expect<linkw::Error>(unknown).status, Status::kUnknownHandle);
  SendSegmentFd(peer, 1, *Segment::Create(*RingBytes(kTokenInRing), "ring"));
  RingSpec other = kTokenInRing;
  other.slots = 63;
  const uint64_t mismatch = peer.Send(Attach(other));
  Run();
  EXPECT_EQ(peer.Expect<linkw::Error>(mismatch).status, Status::kInvalidArgument);
  EXPECT_FALSE(peer.closed());
}

TEST_F(MemoryTest, AStopWordInTheControlSegmentCancelsWithoutAMessage) {
  Start();
  Peer& peer = ConnectDriver();
  DaemonControl control = *DaemonControl::Create();
  peer.SendFd(kControlTag, control.DuplicateFd()->get());
  const uint64_t attach = peer.Send(linkw::ControlAttach{.bytes = kControlBytes});
  Run();
  EXPECT_EQ(peer.Expect<linkw::ControlAck>(attach).bytes, kControlBytes);
  linkw::StateSyncRequest request = LiveRequest();
  std::get<linkw::Transcribe>(request.call).control_slot = 3;  // the third word
  const uint64_t seq = peer.Send(request);
  peer.Send(
      linkw::TranscribeAudio{.request_seq = seq, .data = Noise(20'000), .end_of_stream = true});
  clock_->inside_step = [&] {
    if (EngineSteps() == 12) {
      ASSERT_TRUE(control.StopTranscription(2, seq).ok());
    }
  };
  Run();
  EXPECT_EQ(EngineSteps(), 12);
  const auto answer = std::get<linkw::StateSyncResult>(peer.received().back().message);
  EXPECT_EQ(answer.status, Status::kCancelled);
}

}  // namespace
}  // namespace superfluid
