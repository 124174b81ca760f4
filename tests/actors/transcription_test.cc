// Transcriptions, cancels, deadlines and slow peers: a whole worker in virtual time.

#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "actors/runtime/caf_compat.h"
#include "protocol/messages/status.h"
#include "shm/segment.h"
#include "tests/actors/worker_fixture.h"

namespace superfluid {
namespace {

using linkw::Status;

using TranscriptionTest = WorkerFixture;

TEST_F(TranscriptionTest, SegmentsArriveInOrderAndThenOneFinalAnswer) {
  Start();
  Peer& peer = ConnectDriver();
  const uint64_t seq = SendTranscription(peer, 500);
  Run();
  std::vector<linkw::TranscribeSegment> segments;
  const linkw::StateSyncResult answer = TakeAll(peer, seq, &segments);
  EXPECT_EQ(answer.status, Status::kOk);
  ASSERT_EQ(segments.size(), 5u);
  std::string joined;
  for (size_t i = 0; i < segments.size(); ++i) {
    EXPECT_EQ(segments[i].index, i);
    EXPECT_EQ(segments[i].start_ms, static_cast<int64_t>(i) * 100);
    EXPECT_EQ(ResultOf(answer).segments[i].text, segments[i].text);
    joined += (i == 0 ? "" : " ") + segments[i].text;
  }
  EXPECT_EQ(ResultOf(answer).text, joined);
  EXPECT_EQ(ResultOf(answer).duration_ms, 500);
  EXPECT_EQ(ResultOf(answer).stats.engine_us, ResultOf(answer).stats.engine_steps * 2000);
  EXPECT_TRUE(peer.empty());
}

TEST_F(TranscriptionTest, WithoutStreamingOnlyTheFinalAnswerComes) {
  Start();
  Peer& peer = ConnectDriver();
  linkw::StateSyncRequest request = LiveRequest();
  std::get<linkw::Transcribe>(request.call).stream = false;
  const uint64_t seq = peer.Send(request);
  peer.Send(linkw::TranscribeAudio{.request_seq = seq, .data = Noise(3000), .end_of_stream = true});
  Run();
  // More segments than the segment credit: the job must not stall for want of acknowledgements.
  const auto answer = peer.Expect<linkw::StateSyncResult>(seq);
  EXPECT_EQ(ResultOf(answer).segments.size(), 30u);
  EXPECT_TRUE(peer.empty());
}

TEST_F(TranscriptionTest, TwoTranscriptionsProgressTogether) {
  Start();
  Peer& peer = ConnectDriver();
  const uint64_t first = SendTranscription(peer, 1000);
  const uint64_t second = SendTranscription(peer, 1000);
  Run();
  std::vector<uint64_t> order;
  while (!peer.empty()) order.push_back(peer.Take().correlation);
  ASSERT_EQ(order.size(), 22u);
  // Neither is ever more than two segments ahead (the first one began a little earlier).
  int lead = 0;
  for (const uint64_t seq : order) {
    ASSERT_TRUE(seq == first || seq == second);
    lead += seq == first ? 1 : -1;
    EXPECT_LE(std::abs(lead), 2);
  }
}

TEST_F(TranscriptionTest, AShortClipDoesNotWaitBehindALongFile) {
  Start();
  Peer& peer = ConnectDriver();
  const uint64_t seq = SendTranscription(peer, 20'000);
  RunSome(200);
  const int64_t steps_before = EngineSteps();
  const uint64_t clip = SendTranscription(peer, 200);
  Run();
  // The clip takes 10 slices and a closing step; the long file may take as many in between.
  int64_t finished_at = 0;
  for (const Received& received : peer.received()) {
    const auto* answer = std::get_if<linkw::StateSyncResult>(&received.message);
    if (answer == nullptr) continue;
    EXPECT_EQ(answer->status, Status::kOk);
    if (received.correlation == clip) {
      finished_at = static_cast<int64_t>(ResultOf(*answer).stats.queue_us);
      EXPECT_LE(ResultOf(*answer).stats.queue_us, 2 * 2000u);
    }
  }
  EXPECT_GE(finished_at, 0);
  const auto position = [&](uint64_t wanted) {
    size_t index = 0;
    for (const Received& received : peer.received()) {
      if (received.correlation == wanted &&
          std::holds_alternative<linkw::StateSyncResult>(received.message)) {
        return index;
      }
      ++index;
    }
    return SIZE_MAX;
  };
  EXPECT_LT(position(clip), position(seq));
  EXPECT_GT(EngineSteps(), steps_before);
}

TEST_F(TranscriptionTest, ACancelGivesTheSegmentsSoFarAndNoFurtherStep) {
  Start();
  Peer& peer = ConnectDriver();
  const uint64_t seq = SendTranscription(peer, 1000);
  int64_t steps_at_cancel = 0;
  // The cancel arrives while the 13th step runs.
  clock_->inside_step = [&] {
    if (EngineSteps() != 13) return;
    clock_->inside_step = nullptr;
    peer.Send(linkw::TranscribeCancel{seq});
    RunSome(100);
    steps_at_cancel = EngineSteps();
  };
  Run();
  std::vector<linkw::TranscribeSegment> segments;
  const linkw::StateSyncResult answer = TakeAll(peer, seq, &segments);
  EXPECT_EQ(answer.status, Status::kCancelled);
  EXPECT_EQ(segments.size(), 2u);
  EXPECT_EQ(ResultOf(answer).segments.size(), 2u);
  EXPECT_EQ(steps_at_cancel, 13);
  EXPECT_EQ(EngineSteps(), 13) << "the engine worked on a cancelled request";
  EXPECT_EQ(ResultOf(answer).stats.steps_after_cancel, 0u);
  EXPECT_LE(ResultOf(answer).stats.cancel_to_stop_us, 2000u);
  EXPECT_TRUE(peer.empty());
}

TEST_F(TranscriptionTest, ACancelAtEveryMomentGivesExactlyOneAnswer) {
  Start();
  Peer& peer = ConnectDriver();
  int cancelled = 0;
  int finished = 0;
  for (size_t moment = 0; moment < 300; ++moment) {
    // Half of the schedules are round robin, half random: replayed by the moment alone.
    random_order = moment % 2 == 1;
    schedule.seed(static_cast<uint32_t>(moment) + 1);
    const uint64_t seq = SendTranscription(peer, 200);
    RunSome(moment);
    peer.Send(linkw::TranscribeCancel{seq});
    peer.Send(linkw::TranscribeCancel{seq});
    Run();
    const linkw::StateSyncResult answer = TakeAll(peer, seq);
    EXPECT_TRUE(peer.empty()) << "a second answer at moment " << moment;
    if (answer.status == Status::kCancelled) {
      ++cancelled;
      EXPECT_EQ(ResultOf(answer).stats.steps_after_cancel, 0u);
    } else {
      EXPECT_EQ(answer.status, Status::kOk);
      ++finished;
    }
    const int64_t steps = EngineSteps();
    Advance(absl::Milliseconds(20));
    EXPECT_EQ(EngineSteps(), steps);
  }
  EXPECT_GT(cancelled, 10);
  EXPECT_GT(finished, 10);
}

TEST_F(TranscriptionTest, ACancelOfAllStopsAllAndLaterRequestsRun) {
  Start();
  Peer& peer = ConnectDriver();
  std::set<uint64_t> open;
  for (int i = 0; i < 20; ++i) open.insert(SendTranscription(peer, 5000));
  RunSome(500);
  peer.Send(linkw::TranscribeCancel{0});
  const uint64_t later = SendTranscription(peer, 200);
  Run();
  while (!peer.empty()) {
    const Received received = peer.Take();
    const auto* answer = std::get_if<linkw::StateSyncResult>(&received.message);
    if (answer == nullptr) continue;
    if (received.correlation == later) {
      EXPECT_EQ(answer->status, Status::kOk);
    } else {
      EXPECT_EQ(answer->status, Status::kCancelled);
      EXPECT_EQ(open.erase(received.correlation), 1u) << "answered twice";
    }
  }
  EXPECT_TRUE(open.empty());
}

TEST_F(TranscriptionTest, AQueuedRequestThatIsCancelledNeverReachesTheEngine) {
  engine_options.emplace_back("max_transcriptions", "1");
  Start();
  Peer& peer = ConnectDriver();
  const uint64_t running = SendTranscription(peer, 20'000);
  const uint64_t queued = SendTranscription(peer, 1000);
  RunSome(300);
  peer.Send(linkw::TranscribeCancel{queued});
  Run();
  for (const Received& received : peer.received()) {
    const auto* answer = std::get_if<linkw::StateSyncResult>(&received.message);
    if (answer == nullptr) continue;
    if (received.correlation == queued) {
      EXPECT_EQ(answer->status, Status::kCancelled);
      EXPECT_EQ(ResultOf(*answer).stats.engine_steps, 0u);
    } else {
      EXPECT_EQ(received.correlation, running);
      EXPECT_EQ(answer->status, Status::kOk);
    }
  }
}

TEST_F(TranscriptionTest, ACancelOfSomebodyElsesOrNoRequestHarmsNobody) {
  Start();
  Peer& peer = ConnectDriver();
  const uint64_t seq = SendTranscription(peer, 300);
  RunSome(40);
  peer.Send(linkw::TranscribeCancel{seq + 1000});
  Run();
  EXPECT_EQ(TakeAll(peer, seq).status, Status::kOk);
  peer.Send(linkw::TranscribeCancel{seq});
  Run();
  EXPECT_TRUE(peer.empty());
}

TEST_F(TranscriptionTest, ADeadlineEndsTheJobWithWhatThereIs) {
  Start();
  Peer& peer = ConnectDriver();
  const uint64_t seq = SendTranscription(peer, 20'000, /*deadline_ms=*/100);
  const uint64_t other = SendTranscription(peer, 200);
  clock_->inside_step = [&] { scheduler().advance_time(caf::timespan(0)); };
  Run();
  bool late = false;
  for (const Received& received : peer.received()) {
    const auto* answer = std::get_if<linkw::StateSyncResult>(&received.message);
    if (answer == nullptr) continue;
    if (received.correlation == seq) {
      late = true;
      EXPECT_EQ(answer->status, Status::kDeadlineExceeded);
      EXPECT_FALSE(ResultOf(*answer).segments.empty());
    } else {
      EXPECT_EQ(received.correlation, other);
      EXPECT_EQ(answer->status, Status::kOk);
    }
  }
  EXPECT_TRUE(late);
}

TEST_F(TranscriptionTest, APeerThatVanishesFreesTheEngineForTheNext) {
  Start();
  Peer& peer = ConnectDriver();
  for (int i = 0; i < 8; ++i) SendTranscription(peer, 20'000);
  RunSome(300);
  peer.HangUp();
  Run();
  const int64_t steps = EngineSteps();
  Advance(absl::Seconds(1));
  EXPECT_EQ(EngineSteps(), steps) << "work went on for a peer that is gone";
  Peer& next = ConnectDriver();
  const uint64_t seq = SendTranscription(next, 300);
  Run();
  EXPECT_EQ(TakeAll(next, seq).status, Status::kOk);
}

TEST_F(TranscriptionTest, APeerThatDoesNotReadPausesItsOwnWorkOnly) {
  Start();
  Peer& slow = Connect(true, /*capacity_bytes=*/size_t{64} << 10);
  slow.SendHello();
  const std::string pcm = Noise(100'000);
  Segment audio = *Segment::Create(pcm.size(), "audio");
  std::memcpy(audio.data(), pcm.data(), pcm.size());
  slow.SendFd(1, audio.DuplicateFd()->get());
  slow.Send(linkw::BufAttach{.buf_id = linkw::BufId(1), .len = pcm.size()});
  linkw::Transcribe transcribe;
  transcribe.audio =
      linkw::AudioBuffer{.buf_id = linkw::BufId(1),
                         .length = pcm.size(),
                         .format = linkw::PcmFormat{.sample_rate_hz = 16000, .channels = 1}};
  transcribe.stream = true;
  const uint64_t seq = slow.Send(linkw::StateSyncRequest{transcribe});
  RunSome(100'000);  // reads nothing
  // 1,000 segments would not fit into 64 KiB: the job stands still, unread.
  const int64_t steps = EngineSteps();
  EXPECT_GT(steps, 0);
  EXPECT_LT(steps, 5000);
  Advance(absl::Seconds(1));  // the fixture reads from now on
  EXPECT_TRUE(std::holds_alternative<linkw::HelloAck>(slow.Take().message));
  std::vector<linkw::TranscribeSegment> segments;
  const linkw::StateSyncResult answer = TakeAll(slow, seq, &segments);
  EXPECT_EQ(answer.status, Status::kOk);
  EXPECT_EQ(segments.size(), 1000u) << "a required frame was lost";
}

}  // namespace
}  // namespace superfluid
