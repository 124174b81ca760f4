// The real worker with the pocketsphinx engine on real recordings, over real sockets.

#include <cstdio>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "protocol/messages/status.h"
#include "tests/integration/speech_data.h"
#include "tests/integration/worker_process.h"

namespace superfluid {
namespace {

using linkw::Status;

class SpeechTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    worker_ = new WorkerProcess({"--engine", "pocketsphinx"});
    recordings_ = new std::vector<Recording>(LibrivoxRecordings());
  }
  static void TearDownTestSuite() {
    delete worker_;
    delete recordings_;
  }
  void SetUp() override {
    ASSERT_EQ(recordings_->size(), 5u) << "pocketsphinx-testdata is not installed";
    client_ = worker_->Connect();
    ASSERT_NE(client_, nullptr);
  }

  static linkw::Transcribe Request(const std::string& path) {
    linkw::Transcribe request;
    request.audio = linkw::AudioPath{path};
    request.stream = true;
    return request;
  }
  std::unique_ptr<linkw::TranscriptionStream> StartOn(const std::string& path) {
    auto stream = client_->Transcribe(Request(path));
    EXPECT_TRUE(stream.ok()) << stream.status();
    return *std::move(stream);
  }
  // The final answer, and how many segments came before it.
  struct Heard {
    linkw::StateSyncResult answer;
    size_t segments = 0;
    const linkw::TranscribeResult& result() const {
      return std::get<linkw::TranscribeResult>(answer.reply);
    }
  };
  static Heard Listen(linkw::TranscriptionStream& stream) {
    Heard heard;
    while (true) {
      auto event = stream.Next(absl::Now() + absl::Seconds(120));
      if (!event.ok()) {
        ADD_FAILURE() << event.status();
        return heard;
      }
      if (auto* answer = std::get_if<linkw::StateSyncResult>(&*event)) {
        heard.answer = *answer;
        return heard;
      }
      ++heard.segments;
    }
  }

  // NOLINTNEXTLINE(readability-identifier-naming): a member, if a static one
  static WorkerProcess* worker_;
  // NOLINTNEXTLINE(readability-identifier-naming): as the one above
  static std::vector<Recording>* recordings_;
  std::unique_ptr<linkw::LinkClient> client_;
};

WorkerProcess* SpeechTest::worker_ = nullptr;
std::vector<Recording>* SpeechTest::recordings_ = nullptr;

TEST_F(SpeechTest, RecordingsAreRecognised) {
  WordErrors total;
  for (const Recording& recording : *recordings_) {
    auto stream = StartOn(recording.path);
    const Heard heard = Listen(*stream);
    ASSERT_EQ(heard.answer.status, Status::kOk) << heard.answer.message;
    const WordErrors errors = CountWordErrors(recording.transcript, heard.result().text);
    total.errors += errors.errors;
    total.words += errors.words;
    EXPECT_EQ(heard.segments, heard.result().segments.size());
    int64_t last = 0;
    for (const linkw::TranscriptSegment& segment : heard.result().segments) {
      EXPECT_GE(segment.start_ms, last);
      EXPECT_FALSE(segment.words.empty());
      for (const linkw::TranscriptWord& word : segment.words) {
        EXPECT_GE(word.start_ms, last);
        EXPECT_GE(word.end_ms, word.start_ms);
        EXPECT_LE(word.end_ms, heard.result().duration_ms);
        EXPECT_GE(word.probability, 0);
        EXPECT_LE(word.probability, 1);
        last = word.start_ms;
      }
      last = segment.end_ms;
    }
  }
  const double rate = static_cast<double>(total.errors) / static_cast<double>(total.words);
  std::printf("word error rate %.3f (%zu of %zu words)\n", rate, total.errors, total.words);
  RecordProperty("word_error_rate", std::to_string(rate));
  EXPECT_LE(rate, 0.40);
}

TEST_F(SpeechTest, SegmentsArriveWhileTheRecordingIsStillBeingDecoded) {
  const std::string path = JoinRecordings(*recordings_, testing::TempDir());
  auto stream = StartOn(path);
  std::vector<linkw::TranscribeSegment> segments;
  std::vector<absl::Time> arrived;
  while (true) {
    auto event = stream->Next(absl::Now() + absl::Seconds(120));
    ASSERT_TRUE(event.ok()) << event.status();
    arrived.push_back(absl::Now());
    const auto* segment = std::get_if<linkw::TranscribeSegment>(&*event);
    if (segment == nullptr) break;
    segments.push_back(*segment);
  }
  std::remove(path.c_str());
  ASSERT_GE(segments.size(), 3u);
  for (size_t i = 0; i < segments.size(); ++i) {
    EXPECT_EQ(segments[i].index, i);
    EXPECT_GT(segments[i].audio_total_ms, 20'000);
  }
  // The second segment came before half of the audio was decoded, and well before the answer.
  EXPECT_LT(segments[1].audio_ms, segments[1].audio_total_ms / 2);
  EXPECT_GT(arrived.back() - arrived[1], (arrived.back() - arrived[0]) / 4);
}

TEST_F(SpeechTest, TwoAtOnceBothProgress) {
  auto first = StartOn((*recordings_)[0].path);
  auto second = StartOn((*recordings_)[1].path);
  const Heard one = Listen(*first);
  const Heard two = Listen(*second);
  ASSERT_EQ(one.answer.status, Status::kOk);
  ASSERT_EQ(two.answer.status, Status::kOk);
  // Neither waited for the other to end: both had begun before either had half of its engine time.
  EXPECT_LT(one.result().stats.queue_us, two.result().stats.engine_us / 2);
  EXPECT_LT(two.result().stats.queue_us, one.result().stats.engine_us / 2);
}

TEST_F(SpeechTest, TheSameAudioGivesTheSameTextWhateverRanBefore) {
  const std::string path = (*recordings_)[2].path;
  const std::string alone = Listen(*StartOn(path)).result().text;
  Listen(*StartOn((*recordings_)[4].path));
  auto cancelled = StartOn((*recordings_)[3].path);
  ASSERT_TRUE(cancelled->Cancel().ok());
  Listen(*cancelled);
  auto beside = StartOn((*recordings_)[0].path);
  EXPECT_EQ(Listen(*StartOn(path)).result().text, alone);
  Listen(*beside);
}

TEST_F(SpeechTest, TwoHundredCancelsAtRandomMoments) {
  const std::string wanted = Listen(*StartOn((*recordings_)[1].path)).result().text;
  const uint32_t seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  std::vector<uint64_t> stop_us;
  int finished = 0;
  for (int i = 0; i < 200; ++i) {
    auto stream = StartOn((*recordings_)[static_cast<size_t>(i) % 5].path);
    // An event that is not there yet ends the wait at the random moment.
    const absl::Time moment = absl::Now() + absl::Microseconds(random() % 150'000);
    size_t segments = 0;
    while (true) {
      auto event = stream->Next(moment);
      if (!event.ok()) break;
      if (std::holds_alternative<linkw::TranscribeSegment>(*event)) ++segments;
    }
    ASSERT_TRUE(stream->Cancel().ok());
    const Heard heard = Listen(*stream);
    ASSERT_TRUE(heard.answer.status == Status::kCancelled || heard.answer.status == Status::kOk)
        << heard.answer.message;
    EXPECT_EQ(heard.result().segments.size(), segments + heard.segments);
    EXPECT_EQ(heard.result().stats.steps_after_cancel, 0u);
    if (heard.answer.status == Status::kCancelled) {
      stop_us.push_back(heard.result().stats.cancel_to_stop_us);
    } else {
      ++finished;
    }
    // The stream is over: a second answer to it would be an error of this call.
    EXPECT_TRUE(absl::IsFailedPrecondition(stream->Next(absl::Now()).status()));
    if (i % 20 != 0) continue;
    const absl::StatusOr<linkw::Pong> before = client_->Ping();
    const absl::StatusOr<linkw::Pong> after = client_->Ping();
    ASSERT_TRUE(before.ok() && after.ok());
    EXPECT_EQ(before->open_transcriptions, 0u);
    EXPECT_EQ(after->engine_steps, before->engine_steps) << "the engine went on";
  }
  std::sort(stop_us.begin(), stop_us.end());
  ASSERT_GT(stop_us.size(), 100u) << finished << " finished before they were cancelled";
  std::printf("cancel to stop: median %.2f ms, p99 %.2f ms, max %.2f ms (%zu cancels)\n",
              static_cast<double>(stop_us[stop_us.size() / 2]) / 1000,
              static_cast<double>(stop_us[stop_us.size() * 99 / 100]) / 1000,
              static_cast<double>(stop_us.back()) / 1000, stop_us.size());
  EXPECT_EQ(Listen(*StartOn((*recordings_)[1].path)).result().text, wanted);
}

TEST_F(SpeechTest, APeerThatVanishesLeavesAWorkerThatServes) {
  for (int i = 0; i < 5; ++i) {
    auto stream = StartOn((*recordings_)[0].path);
    (void)stream->Next(absl::Now() + absl::Milliseconds(30));
    client_.reset();
    client_ = worker_->Connect();
    ASSERT_NE(client_, nullptr);
  }
  const Heard heard = Listen(*StartOn((*recordings_)[1].path));
  EXPECT_EQ(heard.answer.status, Status::kOk);
}

}  // namespace
}  // namespace superfluid
