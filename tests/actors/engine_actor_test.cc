// The engine's actor alone, with transcribers that a test makes up.

#include "actors/engine/engine_actor.h"

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "actors/runtime/caf_compat.h"
#include "caf/actor_system.hpp"
#include "caf/scheduler/test_coordinator.hpp"
#include "caf/send.hpp"
#include "engine/sim/sim_engine.h"
#include "gtest/gtest.h"

namespace superfluid {
namespace {

// Says that it has room for jobs, and never has.
class FullEngine : public Engine {
 public:
  explicit FullEngine(std::shared_ptr<int> resets) : resets_(std::move(resets)) {
    info_.max_transcriptions = 4;
  }
  const EngineInfo& info() const override { return info_; }
  std::string CapabilitiesJson() const override { return "{}"; }
  absl::StatusOr<std::unique_ptr<TranscriptionJob>> StartTranscription(
      const TranscriptionParams& /*params*/, std::unique_ptr<AudioSource> /*audio*/) override {
    return absl::ResourceExhaustedError("full");
  }
  void Reset() override { ++*resets_; }

 private:
  EngineInfo info_;
  const std::shared_ptr<int> resets_;
};

struct Room {
  int jobs = 0;                      // that the engine will take
  std::vector<std::string> started;  // the prompts of those that it took
};

// Takes as many jobs as there is room for, and fails each.
class RoomyEngine : public Engine {
 public:
  explicit RoomyEngine(std::shared_ptr<Room> room) : room_(std::move(room)) {
    info_.max_transcriptions = 4;
  }
  const EngineInfo& info() const override { return info_; }
  std::string CapabilitiesJson() const override { return "{}"; }
  absl::StatusOr<std::unique_ptr<TranscriptionJob>> StartTranscription(
      const TranscriptionParams& params, std::unique_ptr<AudioSource> /*audio*/) override {
    if (room_->jobs == 0) return absl::ResourceExhaustedError("full");
    --room_->jobs;
    room_->started.push_back(params.prompt);
    return absl::InternalError("it took the job");
  }

 private:
  EngineInfo info_;
  const std::shared_ptr<Room> room_;
};

Transcriber::behavior_type SilentTranscriber() {
  return {[](const OpenAudio&) {},          [](const AudioOpened&) {},
          [](const SegmentDecoded&) {},     [](const AudioConsumed&) {},
          [](const TranscriptionEnded&) {}, [](const CancelTranscription&) {},
          [](const LiveAudioReceived&) {},  [](const BufferBound&) {},
          [](const FrameWritten&) {}};
}

class EngineActorTest : public testing::Test {
 protected:
  EngineActorTest() {
    compat::UseTestScheduler(caf_config_);
    system_ = std::make_unique<caf::actor_system>(caf_config_);
    scheduler_ = dynamic_cast<caf::scheduler::test_coordinator*>(&system_->scheduler());
    scheduler_->clock().current_time += std::chrono::seconds(1);
    transcriber_ = compat::Spawn(*system_, compat::Placement::kPooled, SilentTranscriber);
  }
  ~EngineActorTest() override {
    caf::anon_send_exit(engine_, caf::exit_reason::user_shutdown);
    caf::anon_send_exit(transcriber_, caf::exit_reason::user_shutdown);
    engine_ = nullptr;
    transcriber_ = nullptr;
    scheduler_->run();
    while (scheduler_->trigger_timeouts() > 0) scheduler_->run();
  }

  void Start(EngineFactory make_engine) {
    engine_ = compat::Spawn(*system_, compat::Placement::kPooled, EngineActorBehavior,
                            EngineActorOptions{.make_engine = std::move(make_engine)}, progress_);
    compat::SendFromOutside(engine_, CreateEngine{});
    scheduler_->run();
  }

  // Queues a transcription of a second of live audio.
  std::shared_ptr<RequestToken> Queue(uint64_t seq) {
    const RequestKey key{LinkId{1}, seq};
    auto token = std::make_shared<RequestToken>(progress_);
    auto audio = std::make_shared<JobAudio>();
    audio->live =
        LiveAudio::Create({.rate_hz = 16000, .channels = 1, .encoding = PcmEncoding::kS16}).value();
    audio->source = audio->live->TakeSource();
    compat::SendFromOutside(engine_, QueueTranscription{.key = key,
                                                        .params = {.prompt = std::to_string(seq)},
                                                        .audio = std::move(audio),
                                                        .token = token,
                                                        .segment_credit = 1,
                                                        .reply_to = transcriber_});
    compat::SendFromOutside(
        engine_, PushAudio{.key = key,
                           .pcm = std::make_shared<const std::string>(std::string(32'000, '\1')),
                           .end_of_stream = true,
                           .credit = {}});
    return token;
  }

  caf::actor_system_config caf_config_;
  std::unique_ptr<caf::actor_system> system_;
  caf::scheduler::test_coordinator* scheduler_ = nullptr;
  std::shared_ptr<EngineProgress> progress_ = std::make_shared<EngineProgress>();
  std::shared_ptr<int> resets_ = std::make_shared<int>(0);
  Transcriber transcriber_;
  EngineActor engine_;
};

TEST_F(EngineActorTest, AFullEngineIsAskedAgainByOneTimer) {
  Start([this] { return std::make_unique<FullEngine>(resets_); });
  std::vector<std::shared_ptr<RequestToken>> tokens;
  for (uint64_t seq = 1; seq <= 50; ++seq) tokens.push_back(Queue(seq));
  scheduler_->run();
  // The end of each lets the engine be asked again.
  for (uint64_t seq = 1; seq < 50; ++seq) {
    tokens[seq - 1]->Cancel(CancelReason::kRequested, 1);
    compat::SendFromOutside(engine_, CancelJob{{LinkId{1}, seq}});
    scheduler_->run();
  }
  EXPECT_LE(scheduler_->clock().schedule().size(), 1u);
  EXPECT_EQ(progress_->transcriptions_done(), 49u);
}

TEST_F(EngineActorTest, AJobThatFoundNoRoomWaitsStillAndKeepsItsPlace) {
  const auto room = std::make_shared<Room>();
  Start([room] { return std::make_unique<RoomyEngine>(room); });
  const auto offer_again = [&] {
    scheduler_->advance_time(std::chrono::milliseconds(10));
    scheduler_->run();
  };
  std::vector<std::shared_ptr<RequestToken>> tokens;
  for (uint64_t seq = 1; seq <= 3; ++seq) tokens.push_back(Queue(seq));
  scheduler_->run();
  EXPECT_EQ(progress_->waiting(), 3u) << "the first was offered, and has not begun";
  room->jobs = 1;
  offer_again();
  EXPECT_EQ(room->started, (std::vector<std::string>{"1"}));
  EXPECT_EQ(progress_->waiting(), 2u);
  EXPECT_TRUE(tokens[1]->EndWaiting()) << "its owner may answer it";
  tokens[1]->Cancel(CancelReason::kRequested, 1);
  room->jobs = 2;
  offer_again();
  EXPECT_EQ(room->started, (std::vector<std::string>{"1", "3"}));
  EXPECT_EQ(progress_->waiting(), 0u);
}

TEST_F(EngineActorTest, AJobWhoseTranscriberIsGoneIsNotPausedForEver) {
  Start([] {
    return MakeSimEngine(EngineConfig{
        .model_path = {},
        .options = {{"segment_ms", "100"}, {"steps_per_segment", "1"}, {"step_us", "0"}},
        .log = nullptr});
  });
  const std::shared_ptr<RequestToken> token = Queue(1);
  scheduler_->run();
  EXPECT_EQ(progress_->jobs_started(), 1u) << "it is out of credit";
  caf::anon_send_exit(transcriber_, caf::exit_reason::user_shutdown);
  scheduler_->run();
  EXPECT_EQ(progress_->jobs_started(), 0u);
  EXPECT_TRUE(token->cancelled());
}

// A transcriber may have been opening its audio when its link ended.
TEST_F(EngineActorTest, AResetIsNotSkippedForAJobOfALinkThatEndedBefore) {
  Start([this] { return std::make_unique<FullEngine>(resets_); });
  const std::shared_ptr<RequestToken> token = Queue(1);
  token->Cancel(CancelReason::kLinkClosed, 1);
  compat::SendFromOutside(engine_, ReleaseLink{.link = LinkId{2}, .reset_engine = true});
  scheduler_->run();
  EXPECT_EQ(*resets_, 1);
}

TEST_F(EngineActorTest, AJobThatWasCancelledOnItsWayIsNotStarted) {
  Start([] { return MakeSimEngine({}); });
  const std::shared_ptr<RequestToken> token = Queue(1);
  token->Cancel(CancelReason::kLinkClosed, 1);
  scheduler_->run();
  EXPECT_EQ(progress_->steps(), 0u);
  EXPECT_EQ(progress_->transcriptions_done(), 1u);
}

}  // namespace
}  // namespace superfluid
