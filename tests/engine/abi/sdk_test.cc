// A C++ engine behind the C interface, both sides in one process: what it says, asks and throws
// arrives unchanged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "engine/abi/plugin_engine.h"
#include "engine/sdk/shim.h"
#include "tests/engine/abi/engine_test_util.h"

namespace superfluid {
namespace {

using testing::Describe;
using ::testing::ElementsAre;
using testing::FakeAudio;
using testing::Noise;
using ::testing::Pair;
using testing::RecordingSink;
using ::testing::SizeIs;
using testing::Transcribe;

using StepFunction =
    std::function<absl::StatusOr<StepOutcome>(AudioSource&, const CancelToken&, SegmentSink&)>;

// What the engine under test does, set by each test.
struct Script {
  std::function<absl::Status(const EngineConfig&)> create;
  std::function<absl::Status(const TranscriptionParams&)> start;
  StepFunction step;
  std::function<void()> reset;
  std::function<void()> end;  // of a job
  EngineInfo info;
  std::string json = "{\"a\": 1}";
  MemoryCounters memory;
  int jobs = 0;
  int engines = 0;
};

Script* script = nullptr;

class ScriptedJob : public TranscriptionJob {
 public:
  explicit ScriptedJob(std::unique_ptr<AudioSource> audio) : audio_(std::move(audio)) {
    ++script->jobs;
  }
  // A destructor must not throw; one that does anyway ends the process.
  ~ScriptedJob() override {
    --script->jobs;
    if (script->end) script->end();
  }
  absl::StatusOr<StepOutcome> Step(const StepBudget& budget, const CancelToken& token,
                                   SegmentSink& sink) override {
    EXPECT_EQ(budget.target, absl::Milliseconds(7));
    return script->step(*audio_, token, sink);
  }
  TranscriptionProgress Progress() const override { return {"fr", 1234, 5678}; }

 private:
  const std::unique_ptr<AudioSource> audio_;
};

class ScriptedEngine : public Engine {
 public:
  ScriptedEngine() { ++script->engines; }
  ~ScriptedEngine() override { --script->engines; }
  const EngineInfo& info() const override { return script->info; }
  std::string CapabilitiesJson() const override { return script->json; }
  MemoryCounters Memory() const override { return script->memory; }
  absl::StatusOr<std::unique_ptr<TranscriptionJob>> StartTranscription(
      const TranscriptionParams& params, std::unique_ptr<AudioSource> audio) override {
    if (script->start) {
      if (absl::Status status = script->start(params); !status.ok()) return status;
    }
    return std::make_unique<ScriptedJob>(std::move(audio));
  }
  void Reset() override {
    if (script->reset) script->reset();
  }
};

absl::StatusOr<std::unique_ptr<Engine>> MakeScriptedEngine(const EngineConfig& config) {
  if (script->create) {
    if (absl::Status status = script->create(config); !status.ok()) return status;
  }
  return std::make_unique<ScriptedEngine>();
}

absl::StatusOr<std::unique_ptr<Engine>> MakeNoEngine(const EngineConfig&) {
  return std::unique_ptr<Engine>();
}

class SdkTest : public ::testing::Test {
 protected:
  void SetUp() override {
    script = &script_;
    script_.info.name = "scripted";
    script_.info.version = "1.2";
    script_.info.max_transcriptions = 2;
  }
  void TearDown() override {
    engine_.reset();
    EXPECT_EQ(script_.engines, 0);
    script = nullptr;
  }

  absl::Status Make(const EngineConfig& config = {}) {
    auto made =
        PluginEngine::Create(sdk::PluginVtable<MakeScriptedEngine>(SFL_ABI_VERSION), config);
    if (!made.ok()) return made.status();
    engine_ = *std::move(made);
    return absl::OkStatus();
  }
  // One step of a job over a second of audio.
  absl::StatusOr<StepOutcome> StepOnce(StepFunction step) {
    if (engine_ == nullptr) {
      EXPECT_TRUE(Make().ok());
    }
    script_.step = std::move(step);
    auto job = engine_->StartTranscription({}, std::make_unique<FakeAudio>(Noise(1000, 1)));
    EXPECT_TRUE(job.ok()) << job.status();
    return (*job)->Step({absl::Milliseconds(7)}, token_, sink_);
  }

  Script script_;
  CancelToken token_;
  RecordingSink sink_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(SdkTest, ConfigArrives) {
  EngineConfig config;
  config.model_path = "/models/x";
  config.options = {{"b", "2"}, {"a", ""}, {"b", "3"}};
  config.device = 3;
  config.threads = 5;
  bool called = false;
  script_.create = [&](const EngineConfig& seen) {
    called = true;
    EXPECT_EQ(seen.model_path, "/models/x");
    EXPECT_THAT(seen.options, ElementsAre(Pair("b", "2"), Pair("a", ""), Pair("b", "3")));
    EXPECT_EQ(seen.device, 3);
    EXPECT_EQ(seen.threads, 5);
    return absl::OkStatus();
  };
  EXPECT_TRUE(Make(config).ok());
  EXPECT_TRUE(called);
}

TEST_F(SdkTest, LogLinesArrive) {
  std::vector<std::pair<EngineLogLevel, std::string>> lines;
  EngineConfig config;
  config.log = [&](EngineLogLevel level, absl::string_view line) {
    lines.emplace_back(level, std::string(line));
  };
  EngineLog kept;
  script_.create = [&](const EngineConfig& seen) {
    kept = seen.log;
    kept(EngineLogLevel::kWarning, "two\nlines\xFF");
    return absl::OkStatus();
  };
  ASSERT_TRUE(Make(config).ok());
  engine_.reset();
  kept(EngineLogLevel::kError, "after the end");
  EXPECT_THAT(lines, ElementsAre(Pair(EngineLogLevel::kWarning, "two lines\xEF\xBF\xBD")));
}

TEST_F(SdkTest, DescriptionArrives) {
  script_.info.micro_step = absl::Microseconds(12'345);
  script_.info.kv_bits = 16;
  script_.memory = {1, 2, 3, 4, 5, 6};
  ASSERT_TRUE(Make().ok());
  const EngineInfo& info = engine_->info();
  EXPECT_EQ(info.name, "scripted");
  EXPECT_EQ(info.version, "1.2");
  EXPECT_EQ(info.micro_step, absl::Microseconds(12'345));
  EXPECT_EQ(info.max_transcriptions, 2);
  EXPECT_EQ(info.max_lanes, 0);
  EXPECT_EQ(info.kv_bits, 16U);
  EXPECT_EQ(engine_->CapabilitiesJson(), R"({"a":1,"calls":["transcribe"]})");
  const MemoryCounters memory = engine_->Memory();
  EXPECT_EQ(memory.allocated_bytes, 1U);
  EXPECT_EQ(memory.host_retained_bytes, 2U);
  EXPECT_EQ(memory.pool_blocks_total, 3U);
  EXPECT_EQ(memory.pool_blocks_used, 4U);
  EXPECT_EQ(memory.pool_bytes_evictable, 5U);
  EXPECT_EQ(memory.tentative_bytes, 6U);
}

TEST_F(SdkTest, LongCapabilitiesArriveWhole) {
  script_.json = "{\"calls\": [], \"a\": \"" + std::string(200'000, 'x') + "\"}";
  ASSERT_TRUE(Make().ok());
  EXPECT_EQ(engine_->CapabilitiesJson(), script_.json);
}

TEST_F(SdkTest, TooLongCapabilitiesAreDropped) {
  script_.json = "{\"a\": \"" + std::string(SFL_MAX_OUTPUT_BYTES, 'x') + "\"}";
  ASSERT_TRUE(Make().ok());
  EXPECT_EQ(engine_->CapabilitiesJson(), "{}");
}

TEST_F(SdkTest, ParamsArrive) {
  TranscriptionParams params;
  params.language = "de";
  params.translate = true;
  params.timestamps = false;
  params.partial_results = true;
  params.prompt = "a prompt";
  bool called = false;
  script_.start = [&](const TranscriptionParams& seen) {
    called = true;
    EXPECT_EQ(seen.language, "de");
    EXPECT_EQ(seen.prompt, "a prompt");
    EXPECT_TRUE(seen.translate);
    EXPECT_FALSE(seen.timestamps);
    EXPECT_TRUE(seen.partial_results);
    return absl::UnimplementedError("no German");
  };
  ASSERT_TRUE(Make().ok());
  EXPECT_EQ(Transcribe(*engine_, std::make_unique<FakeAudio>(Noise(10, 1)), params).status,
            absl::UnimplementedError("transcription_start: no German"));
  EXPECT_TRUE(called);
}

TEST_F(SdkTest, AudioArrives) {
  const std::vector<float> noise = Noise(1000, 1);
  const auto outcome = StepOnce([&](AudioSource& audio, const CancelToken&, SegmentSink&) {
    EXPECT_EQ(audio.TotalDuration(), absl::Seconds(1));
    EXPECT_FALSE(audio.IsLive());
    std::vector<float> heard;
    std::vector<float> room(700);
    for (AudioSource::State state = AudioSource::State::kMore;
         state == AudioSource::State::kMore;) {
      const auto block = audio.Read(absl::MakeSpan(room));
      EXPECT_TRUE(block.ok());
      heard.insert(heard.end(), room.begin(),
                   room.begin() + static_cast<std::ptrdiff_t>(block->frames));
      state = block->state;
    }
    EXPECT_EQ(heard, noise);
    return StepOutcome::kDone;
  });
  EXPECT_EQ(*outcome, StepOutcome::kDone);
}

TEST_F(SdkTest, StarvedAudioArrives) {
  ASSERT_TRUE(Make().ok());
  script_.step = [&](AudioSource& audio, const CancelToken&, SegmentSink&) {
    EXPECT_EQ(audio.TotalDuration(), std::nullopt);
    EXPECT_TRUE(audio.IsLive());
    float sample = 0;
    EXPECT_EQ(audio.Read(absl::MakeSpan(&sample, 1))->state, AudioSource::State::kStarved);
    return StepOutcome::kWaitingForAudio;
  };
  auto job = engine_->StartTranscription(
      {}, std::make_unique<FakeAudio>(Noise(1000, 1), 480, /*live=*/true));
  ASSERT_TRUE(job.ok());
  EXPECT_EQ(*(*job)->Step({absl::Milliseconds(7)}, token_, sink_), StepOutcome::kWaitingForAudio);
}

TEST_F(SdkTest, BrokenAudioStaysBroken) {
  ASSERT_TRUE(Make().ok());
  auto audio = std::make_unique<FakeAudio>(Noise(1000, 1));
  audio->FailAfter(0, absl::InvalidArgumentError("no audio"));
  script_.step = [&](AudioSource& seen, const CancelToken&,
                     SegmentSink&) -> absl::StatusOr<StepOutcome> {
    float sample = 0;
    const absl::Status first = seen.Read(absl::MakeSpan(&sample, 1)).status();
    EXPECT_EQ(first, absl::InvalidArgumentError("no audio"));
    EXPECT_EQ(seen.Read(absl::MakeSpan(&sample, 1)).status(), first);
    return first;
  };
  auto job = engine_->StartTranscription({}, std::move(audio));
  ASSERT_TRUE(job.ok());
  EXPECT_EQ((*job)->Step({absl::Milliseconds(7)}, token_, sink_).status(),
            absl::InvalidArgumentError("transcription_step: no audio"));
}

TEST_F(SdkTest, SegmentsArrive) {
  TranscribedSegment segment{100, 900, "two words", true, -0.5F, 0.25F, 1.5F, 0.2F, {}};
  segment.words = {{100, 400, "two", 0.75F}, {400, 900, "words", 1}};
  const auto outcome = StepOnce([&](AudioSource& audio, const CancelToken&, SegmentSink& sink) {
    std::vector<float> room(16'000);
    while (audio.Read(absl::MakeSpan(room))->state == AudioSource::State::kMore) {
    }
    sink.OnSegment(segment);
    segment.is_partial = false;
    sink.OnSegment(segment);
    return StepOutcome::kMore;
  });
  EXPECT_EQ(*outcome, StepOutcome::kMore);
  ASSERT_THAT(sink_.segments, SizeIs(2));
  EXPECT_EQ(Describe(sink_.segments[1]), Describe(segment));
  EXPECT_TRUE(sink_.segments[0].is_partial);
}

TEST_F(SdkTest, ASegmentThatTheHostRefusesFailsTheStep) {
  const auto outcome = StepOnce([](AudioSource&, const CancelToken&, SegmentSink& sink) {
    TranscribedSegment segment;
    segment.text = std::string(SFL_MAX_TEXT_BYTES + 1, 'x');
    sink.OnSegment(segment);
    return StepOutcome::kMore;
  });
  EXPECT_EQ(outcome.status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(SdkTest, ACancelIsSeenInsideTheStep) {
  const auto outcome = StepOnce(
      [&](AudioSource&, const CancelToken& token, SegmentSink&) -> absl::StatusOr<StepOutcome> {
        EXPECT_FALSE(token.cancelled());
        token_.Cancel(CancelReason::kDraining, 1);
        EXPECT_EQ(token.reason(), CancelReason::kDraining);
        return absl::CancelledError("stopped");
      });
  EXPECT_EQ(outcome.status(), absl::CancelledError("transcription_step: stopped"));
}

TEST_F(SdkTest, ProgressArrives) {
  ASSERT_TRUE(Make().ok());
  auto job = engine_->StartTranscription({}, std::make_unique<FakeAudio>(Noise(1000, 1)));
  ASSERT_TRUE(job.ok());
  const TranscriptionProgress progress = (*job)->Progress();
  EXPECT_EQ(progress.language, "fr");
  EXPECT_EQ(progress.audio_ms, 1234);
  EXPECT_EQ(progress.audio_total_ms, 5678);
}

TEST_F(SdkTest, NoStepReachesAJobThatIsOver) {
  ASSERT_TRUE(Make().ok());
  int steps = 0;
  script_.step = [&](AudioSource&, const CancelToken&, SegmentSink&) {
    ++steps;
    return StepOutcome::kDone;
  };
  auto job = engine_->StartTranscription({}, std::make_unique<FakeAudio>(Noise(10, 1)));
  ASSERT_TRUE(job.ok());
  EXPECT_TRUE((*job)->Step({absl::Milliseconds(7)}, token_, sink_).ok());
  EXPECT_EQ((*job)->Step({absl::Milliseconds(7)}, token_, sink_).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(steps, 1);
}

TEST_F(SdkTest, JobsAndEnginesAreFreed) {
  ASSERT_TRUE(Make().ok());
  auto job = engine_->StartTranscription({}, std::make_unique<FakeAudio>(Noise(10, 1)));
  ASSERT_TRUE(job.ok());
  EXPECT_EQ(script_.jobs, 1);
  job->reset();
  EXPECT_EQ(script_.jobs, 0);
  engine_.reset();
  EXPECT_EQ(script_.engines, 0);
}

TEST_F(SdkTest, ExceptionsOfTheEngineBecomeStatuses) {
  script_.create = [](const EngineConfig&) -> absl::Status { throw std::runtime_error("oh"); };
  EXPECT_EQ(Make(), absl::InternalError("create: the engine threw an exception: oh"));
  script_.create = [](const EngineConfig&) -> absl::Status { throw std::bad_alloc(); };
  EXPECT_EQ(Make(), absl::ResourceExhaustedError("create: the engine ran out of memory"));
  script_.create = nullptr;
  EXPECT_EQ(StepOnce([](AudioSource&, const CancelToken&, SegmentSink&) -> StepOutcome {
              throw 42;
            }).status(),
            absl::InternalError("transcription_step: the engine threw an unknown exception"));
  script_.reset = [] { throw std::runtime_error("oh"); };
  engine_->Reset();
  script_.start = [](const TranscriptionParams&) -> absl::Status { throw std::bad_alloc(); };
  EXPECT_EQ(Transcribe(*engine_, std::make_unique<FakeAudio>(Noise(10, 1))).status.code(),
            absl::StatusCode::kResourceExhausted);
}

TEST_F(SdkTest, AFactoryThatMakesNothingIsAnError) {
  EXPECT_EQ(
      PluginEngine::Create(sdk::PluginVtable<MakeNoEngine>(SFL_ABI_VERSION), {}).status().code(),
      absl::StatusCode::kInternal);
}

TEST_F(SdkTest, AnEngineWithoutTranscriptionSaysSo) {
  script_.info.max_transcriptions = 0;
  ASSERT_TRUE(Make().ok());
  EXPECT_EQ(Transcribe(*engine_, std::make_unique<FakeAudio>(Noise(10, 1))).status.code(),
            absl::StatusCode::kUnimplemented);
}

TEST_F(SdkTest, ATranscriptionNeedsAudio) {
  ASSERT_TRUE(Make().ok());
  EXPECT_EQ(engine_->StartTranscription({}, nullptr).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace superfluid
