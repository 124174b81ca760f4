// The host against plug-ins that break every rule of superfluid_engine.h.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/abi/superfluid_engine.h"
#include "engine/loader/loader.h"
#include "tests/engine/abi/engine_test_util.h"

namespace superfluid {
namespace {

using testing::ConfigWith;
using testing::Describe;
using ::testing::ElementsAre;
using testing::FakeAudio;
using ::testing::HasSubstr;
using testing::Noise;
using ::testing::Pair;
using testing::RecordingSink;
using testing::RunResult;
using ::testing::SizeIs;
using testing::Transcribe;

std::string PluginPath(const std::string& name) {
  return "tests/engine/abi/plugins/libsuperfluid_" + name + ".so";
}

class HostilePluginTest : public ::testing::Test {
 protected:
  absl::Status Load(const std::string& mode) {
    EngineConfig config = ConfigWith({{"mode", mode}});
    config.log = [this](EngineLogLevel level, absl::string_view line) {
      log_.emplace_back(level, std::string(line));
    };
    auto engine = LoadEngine(PluginPath("hostile"), config);
    if (!engine.ok()) return engine.status();
    engine_ = *std::move(engine);
    return absl::OkStatus();
  }
  void MustLoad(const std::string& mode) {
    const absl::Status status = Load(mode);
    ASSERT_TRUE(status.ok()) << mode << ": " << status;
  }
  RunResult RunWith(const std::string& mode) {
    MustLoad(mode);
    return Transcribe(*engine_, std::make_unique<FakeAudio>(Noise(5000, 1)));
  }
  std::unique_ptr<TranscriptionJob> Start() {
    auto job = engine_->StartTranscription({}, std::make_unique<FakeAudio>(Noise(3000, 1)));
    EXPECT_TRUE(job.ok()) << job.status();
    return job.ok() ? *std::move(job) : nullptr;
  }

  std::vector<std::pair<EngineLogLevel, std::string>> log_;
  std::unique_ptr<Engine> engine_;
};

// Refused before the plug-in gets to do anything.
TEST(BadEntryTest, IsRefusedWithItsReason) {
  const std::vector<std::tuple<std::string, absl::StatusCode, std::string>> cases = {
      {"no_symbol", absl::StatusCode::kInvalidArgument, "no symbol superfluid_engine_entry"},
      {"null_table", absl::StatusCode::kFailedPrecondition,
       "does not support version " + std::to_string(SFL_ABI_VERSION)},
      {"version_0", absl::StatusCode::kFailedPrecondition, "made for version 0"},
      {"version_99", absl::StatusCode::kFailedPrecondition, "made for version 99"},
      {"size_0", absl::StatusCode::kInvalidArgument, "claims 0 bytes"},
      {"size_8", absl::StatusCode::kInvalidArgument, "claims 8 bytes"},
      {"size_79", absl::StatusCode::kInvalidArgument, "claims 79 bytes"},
      {"size_huge", absl::StatusCode::kInvalidArgument, "claims 4294967295 bytes"},
      {"no_create", absl::StatusCode::kInvalidArgument, "no function `create`"},
      {"no_destroy", absl::StatusCode::kInvalidArgument, "no function `destroy`"},
      {"no_describe", absl::StatusCode::kInvalidArgument, "no function `describe`"},
      {"half_transcription", absl::StatusCode::kInvalidArgument, "but not all"},
  };
  for (const auto& [name, code, text] : cases) {
    const absl::Status status = LoadEngine(PluginPath("bad_" + name), {}).status();
    EXPECT_EQ(status.code(), code) << name << ": " << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(text));
    EXPECT_THAT(std::string(status.message()), HasSubstr("bad_" + name));
  }
}

TEST_F(HostilePluginTest, CreateThatLies) {
  EXPECT_THAT(std::string(Load("create_null").message()), HasSubstr("returned no engine"));
  for (const char* mode :
       {"create_null", "create_code_77", "create_code_min", "create_message_overrun"}) {
    EXPECT_EQ(Load(mode).code(), absl::StatusCode::kInternal) << mode;
  }
}

TEST_F(HostilePluginTest, CreateWithBadMessages) {
  EXPECT_THAT(std::string(Load("create_message_overrun").message()), HasSubstr("past the end"));
  const absl::Status unterminated = Load("create_message_unterminated");
  EXPECT_EQ(unterminated.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_LT(unterminated.message().size(), 1200U);
  EXPECT_THAT(std::string(Load("create_message_not_utf8").message()),
              HasSubstr("bad \xEF\xBF\xBD\xEF\xBF\xBD text"));
  EXPECT_EQ(Load("create_message_swapped").code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(HostilePluginTest, LogsRubbish) {
  MustLoad("create_log");
  ASSERT_THAT(log_, SizeIs(2));
  EXPECT_THAT(log_[0], Pair(EngineLogLevel::kError, "caf\xEF\xBF\xBD [31m red"));
  EXPECT_THAT(log_[1], Pair(EngineLogLevel::kDebug, std::string(SFL_MAX_LOG_BYTES, 'y')));
}

TEST_F(HostilePluginTest, DescribesItselfWithNonsense) {
  for (const char* mode : {"name_empty", "name_odd", "huge_jobs", "huge_lanes", "negative_step",
                           "endless_step", "info_overrun"}) {
    EXPECT_EQ(Load(mode).code(), absl::StatusCode::kInternal) << mode;
  }
  EXPECT_EQ(Load("describe_fails").code(), absl::StatusCode::kUnavailable);
}

TEST_F(HostilePluginTest, DescribesItselfWithoutAnEnd) {
  MustLoad("name_unterminated");
  EXPECT_EQ(engine_->info().name, std::string(64, 'n'));
  MustLoad("version_rubbish");
  EXPECT_EQ(engine_->info().version.size(), 3U * 128U);
}

TEST_F(HostilePluginTest, CapabilitiesThatAreNone) {
  for (const char* mode : {"json_array", "json_cut", "json_not_utf8", "json_empty", "json_huge",
                           "json_grows", "json_fails_later"}) {
    MustLoad(mode);
    EXPECT_EQ(engine_->CapabilitiesJson(), "{}") << mode;
    ASSERT_THAT(log_, SizeIs(1)) << mode;
    EXPECT_EQ(log_[0].first, EngineLogLevel::kError);
    log_.clear();
  }
}

TEST_F(HostilePluginTest, CapabilitiesOutsideTheirRoom) {
  EXPECT_EQ(Load("json_overrun").code(), absl::StatusCode::kInternal);
  // The swapped pointer must not be followed: the host reads its own memory, "{}" and zeros.
  MustLoad("json_swapped");
  EXPECT_EQ(engine_->CapabilitiesJson(), "{}");
  EXPECT_THAT(log_, ElementsAre(Pair(EngineLogLevel::kError, HasSubstr("contain a NUL"))));
}

TEST_F(HostilePluginTest, StartsNothing) {
  const RunResult run = RunWith("start_null");
  EXPECT_EQ(run.status.code(), absl::StatusCode::kInternal);
  EXPECT_EQ(run.steps, 0);
}

TEST_F(HostilePluginTest, StepsWithBadResults) {
  for (const char* mode :
       {"outcome_99", "outcome_unset", "step_code_77", "step_code_negative", "step_false_cancel"}) {
    const RunResult run = RunWith(mode);
    EXPECT_EQ(run.status.code(), absl::StatusCode::kInternal) << mode;
    EXPECT_EQ(run.steps, 1) << mode;
  }
}

TEST_F(HostilePluginTest, BadPointersAndCountsThroughEmit) {
  const RunResult run = RunWith("bad_segments");
  ASSERT_TRUE(run.status.ok()) << run.status;
  ASSERT_THAT(run.segments, SizeIs(1));
  EXPECT_EQ(run.segments[0].text, "3,9,9,3,3,3,3,3,3,3,3,");
}

TEST_F(HostilePluginTest, BadPointersAndCountsThroughRead) {
  const RunResult run = RunWith("bad_reads");
  ASSERT_TRUE(run.status.ok()) << run.status;
  ASSERT_THAT(run.segments, SizeIs(1));
  EXPECT_EQ(run.segments[0].text, "9,9,3,3,3,0,1,");
}

TEST_F(HostilePluginTest, CallbacksFromAForeignThread) {
  const RunResult run = RunWith("foreign_thread");
  ASSERT_THAT(run.segments, SizeIs(1));
  EXPECT_EQ(run.segments[0].text, "9,9,0,");
}

TEST_F(HostilePluginTest, CallbacksAfterTheStep) {
  const RunResult run = RunWith("late_callbacks");
  EXPECT_TRUE(run.status.ok());
  EXPECT_THAT(run.segments, SizeIs(1));
  EXPECT_EQ(run.progress.language, "9,9,1,");
}

TEST_F(HostilePluginTest, CallbacksAfterTheJobIsFreed) {
  RunWith("");
  const MemoryCounters answers = engine_->Memory();
  EXPECT_EQ(answers.allocated_bytes, 9U);
  EXPECT_EQ(answers.host_retained_bytes, 9U);
  EXPECT_EQ(answers.tentative_bytes, 1U);
}

TEST_F(HostilePluginTest, RubbishInSegmentsIsRepaired) {
  const RunResult run = RunWith("rubbish");
  ASSERT_TRUE(run.status.ok()) << run.status;
  EXPECT_THAT(Describe(run.segments),
              ElementsAre("0-1000 'caf\xEF\xBF\xBD' 0 0 0 0 [0-1000 'a\xEF\xBF\xBD' 0; "
                          "1000-1000 'b\xEF\xBF\xBD"
                          "c' 1]",
                          "1000-1000 'back' 0 0 0 0 []", "1000-1000 '' 0 0 0 0 []"));
  // Said once, however many there were.
  ASSERT_THAT(log_, SizeIs(1));
  EXPECT_EQ(log_[0].first, EngineLogLevel::kWarning);
}

TEST_F(HostilePluginTest, TooManySegments) {
  const RunResult run = RunWith("too_many");
  EXPECT_THAT(run.segments, SizeIs(SFL_MAX_SEGMENTS_PER_STEP));
  EXPECT_EQ(run.progress.language, "1024,");
}

TEST_F(HostilePluginTest, WritesIntoWhatTheHostPassed) {
  EXPECT_TRUE(RunWith("clobber").status.ok());
  EXPECT_TRUE(Transcribe(*engine_, std::make_unique<FakeAudio>(Noise(1000, 1))).status.ok());
}

TEST_F(HostilePluginTest, ProgressWithRubbish) {
  const TranscriptionProgress rubbish = RunWith("progress_rubbish").progress;
  EXPECT_EQ(rubbish.language, std::string(64, 'z'));
  EXPECT_EQ(rubbish.audio_ms, 0);
  EXPECT_EQ(rubbish.audio_total_ms, 0);
  EXPECT_EQ(RunWith("progress_fails").progress.language, "");
}

TEST_F(HostilePluginTest, ResetThatFailsIsLogged) {
  MustLoad("");
  engine_->Reset();
  EXPECT_THAT(log_, ElementsAre(Pair(EngineLogLevel::kError, "reset: would not")));
}

class ThrowingSink : public SegmentSink {
 public:
  void OnSegment(TranscribedSegment) override { throw std::runtime_error("no room"); }
};

// The plug-in is C and cannot be unwound; it also ignores the error that it gets.
TEST_F(HostilePluginTest, AnExceptionOfTheHostStopsAtTheCallback) {
  MustLoad("");
  const auto job = Start();
  ThrowingSink sink;
  const CancelToken token;
  EXPECT_EQ(job->Step({}, token, sink).status(),
            absl::InternalError("the receiver of segments threw an exception: no room"));
}

TEST_F(HostilePluginTest, ALogThatThrowsHarmsNobody) {
  EngineConfig config = ConfigWith({{"mode", "create_log"}});
  config.log = [](EngineLogLevel, absl::string_view) { throw std::runtime_error("disk full"); };
  EXPECT_TRUE(LoadEngine(PluginPath("hostile"), config).ok());
}

absl::StatusOr<std::unique_ptr<Engine>> LoadThrowing(const std::string& at,
                                                     const std::string& what = "") {
  return LoadEngine(PluginPath("throwing"), ConfigWith({{"at", at}, {"what", what}}));
}

TEST(ThrowingPluginTest, ExceptionsInCreateAndDescribe) {
  EXPECT_THAT(std::string(LoadThrowing("create").status().message()),
              HasSubstr("create threw an exception: thrown on purpose"));
  EXPECT_THAT(std::string(LoadThrowing("create", "odd").status().message()),
              HasSubstr("create threw an unknown exception"));
  EXPECT_EQ(LoadThrowing("create", "memory").status().code(), absl::StatusCode::kInternal);
  EXPECT_EQ(LoadThrowing("describe").status().code(), absl::StatusCode::kInternal);
}

TEST(ThrowingPluginTest, ExceptionsInTheJob) {
  for (const char* at : {"transcription_start", "transcription_step"}) {
    const auto engine = LoadThrowing(at);
    ASSERT_TRUE(engine.ok());
    EXPECT_EQ(Transcribe(**engine, std::make_unique<FakeAudio>(Noise(10, 1))).status,
              absl::InternalError(std::string(at) + " threw an exception: thrown on purpose"));
  }
}

TEST(ThrowingPluginTest, ExceptionsWhereNoErrorCanBeReturned) {
  for (const char* at :
       {"memory", "reset", "transcription_progress", "transcription_free", "destroy"}) {
    auto engine = LoadThrowing(at);
    ASSERT_TRUE(engine.ok());
    EXPECT_EQ((*engine)->Memory().allocated_bytes, 0U);
    (*engine)->Reset();
    auto job = (*engine)->StartTranscription({}, std::make_unique<FakeAudio>(Noise(10, 1)));
    ASSERT_TRUE(job.ok());
    EXPECT_EQ((*job)->Progress().language, "");
    job->reset();
    engine->reset();
  }
}

TEST(MinimalPluginTest, TranscribesInPlainC) {
  const auto engine = LoadEngine(PluginPath("minimal"), {});
  ASSERT_TRUE(engine.ok()) << engine.status();
  EXPECT_EQ((*engine)->info().name, "minimal");
  EXPECT_EQ((*engine)->CapabilitiesJson(), R"({"calls":["transcribe"],"engine":"minimal"})");
  const RunResult run = Transcribe(**engine, std::make_unique<FakeAudio>(Noise(2500, 1)));
  ASSERT_TRUE(run.status.ok()) << run.status;
  EXPECT_THAT(Describe(run.segments),
              ElementsAre("0-1000 'second 0' 0 0 0 0 [0-500 'second' 0.5; 500-1000 '0' 0.5]",
                          "1000-2000 'second 1' 0 0 0 0 [1000-1500 'second' 0.5; 1500-2000 '1' "
                          "0.5]",
                          "2000-2500 'second 2' 0 0 0 0 [2000-2250 'second' 0.5; 2250-2500 '2' "
                          "0.5]"));
  EXPECT_EQ(run.progress.audio_ms, 2500);
  (*engine)->Reset();
  EXPECT_EQ((*engine)->Memory().allocated_bytes, 0U);
}

TEST(MinimalPluginTest, ReportsItsErrors) {
  EXPECT_THAT(
      std::string(LoadEngine(PluginPath("minimal"), ConfigWith({{"a", "b"}})).status().message()),
      HasSubstr("create: the minimal engine has no options"));
  const auto engine = LoadEngine(PluginPath("minimal"), {});
  ASSERT_TRUE(engine.ok());
  TranscriptionParams params;
  params.translate = true;
  EXPECT_EQ(Transcribe(**engine, std::make_unique<FakeAudio>(Noise(10, 1)), params).status.code(),
            absl::StatusCode::kUnimplemented);
  const auto job = (*engine)->StartTranscription({}, std::make_unique<FakeAudio>(Noise(1000, 1)));
  ASSERT_TRUE(job.ok());
  CancelToken token;
  token.Cancel(CancelReason::kRequested, 1);
  RecordingSink sink;
  EXPECT_TRUE(absl::IsCancelled((*job)->Step({}, token, sink).status()));
}

TEST(EngineThreadDeathTest, AnotherThreadEndsTheProcess) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto engine = LoadEngine(PluginPath("minimal"), {});
  ASSERT_TRUE(engine.ok());
  EXPECT_DEATH(std::thread([&] { (*engine)->Memory(); }).join(), "'memory' on another thread");
}

}  // namespace
}  // namespace superfluid
