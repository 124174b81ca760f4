// Recordings whose files are slow, or hang: a whole worker in virtual time.

#include <string>
#include <vector>

#include "protocol/messages/status.h"
#include "shm/segment.h"
#include "tests/actors/worker_fixture.h"

namespace superfluid {
namespace {

using linkw::Status;

class RecordingTest : public WorkerFixture {
 protected:
  // A streamed request for `ms` of PCM in a buffer; returns its seq.
  uint64_t SendRecording(Peer& peer, int ms, uint32_t deadline_ms = 0) {
    return SendBuffer(peer, Noise(ms), /*channels=*/1, deadline_ms);
  }
  // The same for these bytes; runs until it is answered.
  uint64_t SendPcm(Peer& peer, const std::string& pcm, uint32_t channels) {
    const uint64_t seq = SendBuffer(peer, pcm, channels, 0);
    Run();
    return seq;
  }
  uint64_t SendBuffer(Peer& peer, const std::string& pcm, uint32_t channels, uint32_t deadline_ms) {
    Segment audio = *Segment::Create(pcm.size(), "audio");
    pcm.copy(reinterpret_cast<char*>(audio.data()), pcm.size());
    const uint64_t id = ++buffers_;
    peer.SendFd(id, audio.DuplicateFd()->get());
    peer.Send(linkw::BufAttach{.buf_id = linkw::BufId(id), .len = pcm.size()});
    linkw::Transcribe transcribe;
    transcribe.audio = linkw::AudioBuffer{
        .buf_id = linkw::BufId(id),
        .length = pcm.size(),
        .format = linkw::PcmFormat{.sample_rate_hz = 16000, .channels = channels}};
    transcribe.stream = true;
    transcribe.deadline_ms = deadline_ms;
    return peer.Send(linkw::StateSyncRequest{transcribe});
  }
  // Opens the recording that waits for it, and decodes its first second.
  void OpenRecording() {
    ASSERT_EQ(readers_->waiting(), 1u);
    readers_->RunOne();
    Run();
  }
  void ExpectOthersAreServed(Peer& peer) {
    const uint64_t live = SendTranscription(peer, 500);
    const uint64_t ping = peer.Send(linkw::Ping{});
    Run();
    peer.Expect<linkw::Pong>(ping);
    EXPECT_EQ(TakeAll(peer, live).status, Status::kOk);
  }

 private:
  uint64_t buffers_ = 0;
};

TEST_F(RecordingTest, OneThatHangsBeforeItIsOpenedHoldsUpNobodyAndIsCancelledAtOnce) {
  Start();
  Peer& peer = ConnectDriver();
  readers_->hangs = true;
  std::vector<uint64_t> seqs;
  for (int i = 0; i < 5; ++i) seqs.push_back(SendRecording(peer, 500));
  Run();
  ExpectOthersAreServed(peer);
  for (const uint64_t seq : seqs) {
    peer.Send(linkw::TranscribeCancel{seq});
    Run();
    EXPECT_EQ(TakeAll(peer, seq).status, Status::kCancelled);
  }
  readers_->hangs = false;
  Run();
  EXPECT_TRUE(peer.empty());
  EXPECT_EQ(readers_->waiting(), 0u);
}

TEST_F(RecordingTest, OneThatHangsBeforeItIsOpenedKeepsItsDeadline) {
  Start();
  Peer& peer = ConnectDriver();
  readers_->hangs = true;
  const uint64_t seq = SendRecording(peer, 500, /*deadline_ms=*/100);
  Advance(absl::Milliseconds(90));
  EXPECT_TRUE(peer.empty());
  Advance(absl::Milliseconds(20));
  EXPECT_EQ(TakeAll(peer, seq).status, Status::kDeadlineExceeded);
}

TEST_F(RecordingTest, OneThatHangsInTheMiddleHoldsUpNobodyAndIsCancelledAtOnce) {
  Start();
  Peer& peer = ConnectDriver();
  readers_->hangs = true;
  const uint64_t seq = SendRecording(peer, 60'000);
  Run();
  OpenRecording();
  std::vector<linkw::TranscribeSegment> segments;
  while (!peer.empty()) segments.push_back(peer.Expect<linkw::TranscribeSegment>(seq));
  EXPECT_EQ(segments.size(), 10u) << "what was decoded is transcribed";
  const int64_t steps = EngineSteps();
  Advance(absl::Seconds(1));
  EXPECT_EQ(EngineSteps(), steps) << "an engine that has no audio is not stepped";
  ExpectOthersAreServed(peer);
  peer.Send(linkw::TranscribeCancel{seq});
  Run();
  const linkw::StateSyncResult answer = TakeAll(peer, seq);
  EXPECT_EQ(answer.status, Status::kCancelled);
  EXPECT_EQ(ResultOf(answer).segments.size(), 10u);
  readers_->hangs = false;
  Run();
  EXPECT_TRUE(peer.empty());
  EXPECT_EQ(readers_->waiting(), 0u);
}

TEST_F(RecordingTest, ADrainWaitsForOneThatHangsUntilItsDeadlineOnly) {
  Start();
  Peer& peer = ConnectDriver();
  readers_->hangs = true;
  const uint64_t seq = SendRecording(peer, 60'000);
  Run();
  OpenRecording();
  while (!peer.empty()) peer.Expect<linkw::TranscribeSegment>(seq);
  const uint64_t drain = peer.Send(linkw::DrainRequest{.deadline_ms = 50});
  Advance(absl::Milliseconds(60));
  EXPECT_EQ(TakeAll(peer, seq).status, Status::kCancelled);
  peer.Expect<linkw::Drained>(drain);
}

TEST_F(RecordingTest, OneThatIsReadOnGoesOn) {
  Start();
  Peer& peer = ConnectDriver();
  readers_->hangs = true;
  const uint64_t seq = SendRecording(peer, 60'000);
  Run();
  OpenRecording();
  readers_->hangs = false;
  Run();
  std::vector<linkw::TranscribeSegment> segments;
  const linkw::StateSyncResult answer = TakeAll(peer, seq, &segments);
  EXPECT_EQ(answer.status, Status::kOk);
  EXPECT_EQ(segments.size(), 600u);
  EXPECT_EQ(ResultOf(answer).duration_ms, 60'000);
}

TEST_F(RecordingTest, WhatIsToBeKnownOfTheAudioIsTheMessageOfAnAnswerThatIsOk) {
  Start();
  Peer& peer = ConnectDriver();
  std::string pcm;  // two channels, of which one is the inverse of the other
  for (int i = 0; i < 16000; ++i) {
    for (const int sample : {i % 200 * 50, -(i % 200 * 50)}) {
      pcm += static_cast<char>(sample & 0xFF);
      pcm += static_cast<char>(sample >> 8 & 0xFF);
    }
  }
  const linkw::StateSyncResult answer = TakeAll(peer, SendPcm(peer, pcm, /*channels=*/2));
  EXPECT_EQ(answer.status, Status::kOk);
  EXPECT_NE(answer.message.find("channels cancel each other"), std::string::npos);
  EXPECT_EQ(ResultOf(answer).segments.size(), 10u) << "it is no silence";
}

TEST_F(RecordingTest, WhenNoReaderIsLeftANewOneIsAnsweredBusyAndLiveAudioGoesOn) {
  Start();
  Peer& peer = ConnectDriver();
  readers_->is_full = true;
  const uint64_t seq = SendRecording(peer, 500);
  Run();
  EXPECT_EQ(TakeAll(peer, seq).status, Status::kBusy);
  ExpectOthersAreServed(peer);
}

TEST_F(RecordingTest, ALinkThatEndsLeavesItsHungRecordingsBehind) {
  Start();
  Peer& peer = ConnectDriver();
  readers_->hangs = true;
  SendRecording(peer, 60'000);
  Run();
  OpenRecording();
  SendRecording(peer, 500);
  Run();
  peer.HangUp();
  Run();
  Peer& next = ConnectDriver();
  ExpectOthersAreServed(next);
  readers_->hangs = false;
  Run();
  EXPECT_EQ(readers_->waiting(), 0u);
}

}  // namespace
}  // namespace superfluid
