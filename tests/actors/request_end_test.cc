// How requests end: answers that count, cancels that cost nothing, no job without a request.

#include <sys/resource.h>
#include <sys/stat.h>

#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/transcription.h"
#include "protocol/messages/status.h"
#include "shm/segment.h"
#include "tests/actors/fake_generation.h"
#include "tests/actors/worker_fixture.h"

namespace superfluid {
namespace {

using linkw::Status;

class RequestEndTest : public WorkerFixture {
 protected:
  static linkw::StateSyncRequest BufferRequest(uint64_t length) {
    linkw::Transcribe transcribe;
    transcribe.audio =
        linkw::AudioBuffer{.buf_id = linkw::BufId(1),
                           .length = length,
                           .format = linkw::PcmFormat{.sample_rate_hz = 16000, .channels = 1}};
    return {transcribe};
  }
  static linkw::StateSyncRequest PathRequest(const std::string& path) {
    linkw::Transcribe transcribe;
    transcribe.audio = linkw::AudioPath{path};
    return {transcribe};
  }
  // `ms` of audio, known to the worker as buffer 1. Returns its bytes.
  static uint64_t AttachAudio(Peer& peer, int ms) {
    const std::string pcm = Noise(ms);
    Segment segment = *Segment::Create(pcm.size(), "audio");
    std::memcpy(segment.data(), pcm.data(), pcm.size());
    peer.SendFd(1, segment.DuplicateFd()->get());
    peer.Send(linkw::BufAttach{.buf_id = linkw::BufId(1), .len = pcm.size()});
    return pcm.size();
  }
  static linkw::TranscribeAudio SpanOf(uint64_t request, uint64_t buffer) {
    return {.request_seq = request,
            .data = linkw::BufferSpan{.buf_id = linkw::BufId(buffer), .offset = 0, .length = 64}};
  }
};

// Transcribes anything: `script` is what its jobs do in their only step.
class ScriptedEngine : public FakeEngine {
 public:
  using Script = std::function<absl::Status(SegmentSink&)>;
  explicit ScriptedEngine(Script script) : FakeEngine(false), script_(std::move(script)) {
    info_.name = "scripted";
    info_.max_transcriptions = 1;
  }
  const EngineInfo& info() const override { return info_; }
  absl::StatusOr<std::unique_ptr<TranscriptionJob>> StartTranscription(
      const TranscriptionParams& /*params*/, std::unique_ptr<AudioSource> /*audio*/) override {
    return std::make_unique<Job>(script_);
  }

 private:
  class Job : public TranscriptionJob {
   public:
    explicit Job(const Script& script) : script_(script) {}
    absl::StatusOr<StepOutcome> Step(const StepBudget& /*budget*/, const CancelToken& /*token*/,
                                     SegmentSink& sink) override {
      if (absl::Status status = script_(sink); !status.ok()) return status;
      return StepOutcome::kDone;
    }
    TranscriptionProgress Progress() const override { return {.language = "en"}; }

   private:
    const Script& script_;
  };

  const Script script_;
  EngineInfo info_;
};

TEST_F(RequestEndTest, AudioThatARequestDoesNotTakeDoesNotEndIt) {
  Start();
  Peer& peer = ConnectDriver();
  const uint64_t bytes = AttachAudio(peer, 500);
  const uint64_t seq = peer.Send(BufferRequest(bytes));
  peer.Send(SpanOf(seq, /*buffer=*/999));
  Run();
  const auto answer = peer.Expect<linkw::StateSyncResult>(seq);
  EXPECT_EQ(answer.status, Status::kOk) << answer.message;
  EXPECT_EQ(ResultOf(answer).duration_ms, 500);
  EXPECT_TRUE(peer.empty());
  EXPECT_EQ(progress_->jobs_started(), 0u);
}

TEST_F(RequestEndTest, AudioThatARequestDoesNotTakeDoesNotRunItAgain) {
  Start();
  Peer& peer = ConnectDriver();
  const uint64_t bytes = AttachAudio(peer, 500);
  const uint64_t seq = peer.Send(BufferRequest(bytes));
  // Whenever the first run ends, one more span of a buffer that exists is on its way.
  clock_->inside_step = [&] { peer.Send(SpanOf(seq, /*buffer=*/1)); };
  Run();
  EXPECT_EQ(peer.Expect<linkw::StateSyncResult>(seq).status, Status::kOk);
  EXPECT_TRUE(peer.empty());
  EXPECT_EQ(progress_->transcriptions_done(), 1u);
  EXPECT_EQ(progress_->open_transcriptions(), 0u);
  EXPECT_EQ(progress_->jobs_started(), 0u);
}

TEST_F(RequestEndTest, APeerThatDoesNotReadItsFailedTranscriptionsIsNotReadEither) {
  Start();
  Peer& peer = Connect(true, /*capacity_bytes=*/size_t{16} << 10);
  peer.SendHello();
  constexpr int kMany = 20'000;
  int sent = 0;
  do {
    RunSome(1'000'000);  // the peer reads nothing
    const int before = sent;
    // Fewer than may be open: else most are answered BUSY.
    for (int i = 0; i < 100 && peer.SendIfRoom(PathRequest("nothing")); ++i) ++sent;
    if (sent == before) break;
  } while (sent < kMany);
  EXPECT_LT(sent, 3000) << "answers pile up in the worker";
  ReadAll();  // from now on the peer reads
  Run();
  EXPECT_TRUE(peer.SendIfRoom(linkw::Ping{}));  // and writes what was left of its last request
  Run();
  int answers = 0;
  for (const Received& received : peer.received()) {
    answers += std::holds_alternative<linkw::StateSyncResult>(received.message) ? 1 : 0;
  }
  EXPECT_EQ(answers, sent);
}

// Leaves the process no descriptor for as long as it exists.
class NoDescriptors {
 public:
  NoDescriptors() {
    getrlimit(RLIMIT_NOFILE, &before_);
    rlimit none = before_;
    none.rlim_cur = 3;
    setrlimit(RLIMIT_NOFILE, &none);
  }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;
  ~NoDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

// Each error of opening keeps its code on its way to the peer, whichever request named the file.
TEST_F(RequestEndTest, ErrorsOfOpeningKeepTheirCodes) {
  const std::string root = testing::TempDir() + "/opening";
  mkdir(root.c_str(), 0700);
  config.media_root = config.model_root = root;
  Start();
  Peer& peer = ConnectDriver();
  linkw::StrategyRegister strategy{.strategy_id = "none"};
  const auto statuses = [&](const std::string& path) {
    strategy.artifacts = {{.load_path = path}};
    const std::vector<uint64_t> seqs = {
        peer.Send(PathRequest(path)), peer.Send(linkw::StateSyncRequest{linkw::LoraLoad{path}}),
        peer.Send(linkw::StateSyncRequest{linkw::MediaProbe{path}}),
        peer.Send(linkw::StateSyncRequest{linkw::MediaEncode{path}}), peer.Send(strategy)};
    Run();
    std::map<uint64_t, Status> answers;
    for (const Received& received : peer.received()) {
      std::visit(
          [&](const auto& message) {
            if constexpr (requires { message.status; }) {
              answers[received.correlation] = message.status;
            }
          },
          received.message);
    }
    peer.received().clear();
    EXPECT_EQ(answers.size(), seqs.size()) << path;
    std::set<Status> all;
    for (const auto& [seq, status] : answers) all.insert(status);
    return all;
  };
  EXPECT_EQ(statuses("nothing"), std::set{Status::kNotFound});
  EXPECT_EQ(statuses("../outside"), std::set{Status::kPermissionDenied});
  EXPECT_EQ(statuses("."), std::set{Status::kInvalidArgument}) << "a folder";
  const NoDescriptors none;
  EXPECT_EQ(statuses("nothing"), std::set{Status::kOutOfMemory});
}

TEST_F(RequestEndTest, ACancelOfWhatIsCancelledCostsNothing) {
  Start();
  Peer& peer = ConnectDriver();
  constexpr int kOpen = 50;
  constexpr int kCancels = 20;
  SendTranscription(peer, 500);
  for (int i = 1; i < kOpen; ++i) peer.Send(LiveRequest());
  size_t events = 0;
  clock_->inside_step = [&] {
    clock_->inside_step = nullptr;
    for (int i = 0; i < kCancels; ++i) peer.Send(linkw::TranscribeCancel{0});
    events = RunSome(100'000);
  };
  Run();
  EXPECT_EQ(peer.received().size(), size_t{kOpen});
  // Once for each request: its cancel, its answer and what follows; and the frames themselves.
  EXPECT_LT(events, size_t{kOpen} * 10);
}

TEST_F(RequestEndTest, AnEnginesErrorKeepsItsStatus) {
  absl::Status failure;
  config.make_engine = [&] {
    return std::make_unique<ScriptedEngine>([&failure](SegmentSink&) { return failure; });
  };
  Start();
  Peer& peer = ConnectDriver();
  const std::vector<std::pair<absl::Status, Status>> cases = {
      {absl::ResourceExhaustedError("no memory"), Status::kOutOfMemory},
      {absl::InternalError("broken"), Status::kEngineFailed},
      {absl::DataLossError("broken"), Status::kEngineFailed},
      {absl::InvalidArgumentError("no audio"), Status::kInvalidArgument},
      {absl::UnimplementedError("no such language"), Status::kUnsupported}};
  for (const auto& [status, expected] : cases) {
    failure = status;
    const uint64_t seq = SendTranscription(peer, 100);
    Run();
    EXPECT_EQ(peer.Expect<linkw::StateSyncResult>(seq).status, expected) << status;
  }
}

TEST_F(RequestEndTest, AnAnswerBeyondASmallFrameKeepsTheSegmentsThatFit) {
  config.limits.max_frame = 65'536;
  config.make_engine = [] {
    return std::make_unique<ScriptedEngine>([](SegmentSink& sink) {
      for (int i = 0; i < 10; ++i) {
        sink.OnSegment({.start_ms = i, .end_ms = i + 1, .text = std::string(10'000, 'a')});
      }
      return absl::OkStatus();
    });
  };
  Start();
  Peer& peer = ConnectDriver();
  const uint64_t seq = SendTranscription(peer, 100);
  Run();
  std::vector<linkw::TranscribeSegment> segments;
  const linkw::StateSyncResult answer = TakeAll(peer, seq, &segments);
  EXPECT_EQ(answer.status, Status::kTooLarge);
  EXPECT_EQ(segments.size(), 3u);
  EXPECT_EQ(ResultOf(answer).segments.size(), segments.size());
  EXPECT_EQ(ResultOf(answer).text.size(), 30'002u);
  EXPECT_TRUE(peer.empty());
}

TEST_F(RequestEndTest, ASegmentThatNoFrameHoldsIsNotAnsweredTwice) {
  config.make_engine = [] {
    return std::make_unique<ScriptedEngine>([](SegmentSink& sink) {
      sink.OnSegment({.start_ms = 0, .end_ms = 1, .text = "first"});
      const TranscribedWord word{.text = std::string(100, 'a')};
      sink.OnSegment({.start_ms = 1, .end_ms = 2, .text = "second", .words = {4000, word}});
      sink.OnSegment({.start_ms = 2, .end_ms = 3, .text = "third"});
      return absl::OkStatus();
    });
  };
  Start();
  Peer& peer = ConnectDriver();
  const uint64_t seq = SendTranscription(peer, 100);
  Run();
  std::vector<linkw::TranscribeSegment> segments;
  const linkw::StateSyncResult answer = TakeAll(peer, seq, &segments);
  EXPECT_EQ(answer.status, Status::kTooLarge);
  EXPECT_EQ(ResultOf(answer).text, "first");
  EXPECT_EQ(segments.size(), 1u);
  EXPECT_TRUE(peer.empty());
}

}  // namespace
}  // namespace superfluid
