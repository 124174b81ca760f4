// The sim engine used directly and through its plug-in must do the same.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/loader/loader.h"
#include "engine/sim/sim_engine.h"
#include "tests/engine/abi/engine_test_util.h"

namespace superfluid {
namespace {

using testing::ConfigWith;
using testing::Describe;
using testing::FakeAudio;
using testing::Noise;
using testing::RunResult;
using ::testing::SizeIs;
using testing::Transcribe;

class RoundTripTest : public ::testing::Test {
 protected:
  void Make(const EngineConfig& config) {
    auto direct = MakeSimEngine(config);
    auto loaded = LoadEngine("engine/sim/libsuperfluid_sim.so", config);
    ASSERT_TRUE(direct.ok()) << direct.status();
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    direct_ = *std::move(direct);
    loaded_ = *std::move(loaded);
  }
  void SetUp() override { Make({}); }

  std::unique_ptr<Engine> direct_;
  std::unique_ptr<Engine> loaded_;
};

TEST_F(RoundTripTest, SameDescription) {
  EXPECT_EQ(loaded_->info().name, direct_->info().name);
  EXPECT_EQ(loaded_->info().version, direct_->info().version);
  EXPECT_EQ(loaded_->info().micro_step, direct_->info().micro_step);
  EXPECT_EQ(loaded_->info().max_transcriptions, direct_->info().max_transcriptions);
  EXPECT_EQ(loaded_->CapabilitiesJson(), direct_->CapabilitiesJson());
}

TEST_F(RoundTripTest, SameSegments) {
  TranscriptionParams params;
  params.partial_results = true;
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const auto audio = [&] {
      return std::make_unique<FakeAudio>(Noise(int64_t{137} * seed, seed), 100 + 31 * seed,
                                         seed % 2 == 1);
    };
    const RunResult direct = Transcribe(*direct_, audio(), params);
    const RunResult loaded = Transcribe(*loaded_, audio(), params);
    EXPECT_TRUE(loaded.status.ok()) << loaded.status;
    EXPECT_EQ(Describe(loaded.segments), Describe(direct.segments)) << seed;
    EXPECT_EQ(loaded.steps, direct.steps);
    EXPECT_EQ(loaded.starved, direct.starved);
    EXPECT_EQ(loaded.progress.audio_ms, direct.progress.audio_ms);
    EXPECT_EQ(loaded.progress.audio_total_ms, direct.progress.audio_total_ms);
    EXPECT_EQ(loaded.progress.language, direct.progress.language);
  }
}

TEST_F(RoundTripTest, SameErrorsButForTheCallsName) {
  for (const std::string prompt : {"sim:fail_at_step=2", "sim:fail_start=1", "sim:bogus=1"}) {
    TranscriptionParams params;
    params.prompt = prompt;
    const absl::Status direct =
        Transcribe(*direct_, std::make_unique<FakeAudio>(Noise(1000, 1)), params).status;
    const absl::Status loaded =
        Transcribe(*loaded_, std::make_unique<FakeAudio>(Noise(1000, 1)), params).status;
    EXPECT_EQ(loaded.code(), direct.code());
    EXPECT_THAT(std::string(loaded.message()),
                ::testing::EndsWith(": " + std::string(direct.message())));
  }
}

// Directly the exception reaches the caller; through the plug-in it must not.
TEST_F(RoundTripTest, ExceptionsBecomeStatuses) {
  TranscriptionParams params;
  params.prompt = "sim:throw_at_step=2";
  EXPECT_EQ(Transcribe(*loaded_, std::make_unique<FakeAudio>(Noise(1000, 1)), params).status,
            absl::InternalError("transcription_step: the engine threw an exception: a fault that "
                                "was asked for"));
  params.prompt = "sim:out_of_memory_at_step=2";
  EXPECT_EQ(Transcribe(*loaded_, std::make_unique<FakeAudio>(Noise(1000, 1)), params).status.code(),
            absl::StatusCode::kResourceExhausted);
}

TEST_F(RoundTripTest, BrokenPromisesAreRepaired) {
  TranscriptionParams params;
  params.prompt = "sim:backwards_times=1 sim:invalid_utf8=1";
  const RunResult run = Transcribe(*loaded_, std::make_unique<FakeAudio>(Noise(3000, 1)), params);
  ASSERT_THAT(run.segments, SizeIs(3));
  int64_t floor_ms = 0;
  for (const TranscribedSegment& segment : run.segments) {
    EXPECT_GE(segment.start_ms, floor_ms);
    EXPECT_GE(segment.end_ms, segment.start_ms);
    EXPECT_LE(segment.end_ms, 3000);
    EXPECT_EQ(segment.text.find('\xFF'), std::string::npos);
    floor_ms = segment.end_ms;
  }
}

TEST_F(RoundTripTest, SeveralEnginesAndJobsSideBySide) {
  auto other = LoadEngine("engine/sim/libsuperfluid_sim.so", ConfigWith({{"words", "1"}}));
  ASSERT_TRUE(other.ok());
  auto one = loaded_->StartTranscription({}, std::make_unique<FakeAudio>(Noise(2000, 1)));
  auto two = (*other)->StartTranscription({}, std::make_unique<FakeAudio>(Noise(2000, 2)));
  ASSERT_TRUE(one.ok() && two.ok());
  testing::RecordingSink sink_one;
  testing::RecordingSink sink_two;
  const CancelToken token;
  for (bool over = false; !over;) {
    const auto outcome = (*one)->Step({}, token, sink_one);
    ASSERT_TRUE(outcome.ok() && (*two)->Step({}, token, sink_two).ok());
    over = *outcome == StepOutcome::kDone;
  }
  ASSERT_THAT(sink_one.segments, SizeIs(2));
  ASSERT_THAT(sink_two.segments, SizeIs(2));
  EXPECT_THAT(sink_one.segments[0].words, SizeIs(3));
  EXPECT_THAT(sink_two.segments[0].words, SizeIs(1));
  two->reset();
}

// Two plug-ins must not bind to each other's copies of what they share.
TEST_F(RoundTripTest, ThePluginExportsItsEntryOnly) {
  void* const library = dlopen("engine/sim/libsuperfluid_sim.so", RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  EXPECT_NE(dlsym(library, "superfluid_engine_entry"), nullptr);
  // superfluid::sdk::TableWithoutCreate(), which every C++ plug-in has.
  EXPECT_EQ(dlsym(library, "_ZN10superfluid3sdk18TableWithoutCreateEv"), nullptr);
}

TEST_F(RoundTripTest, MemoryComesAndGoes) {
  EXPECT_EQ(loaded_->Memory().allocated_bytes, 0U);
  auto job = loaded_->StartTranscription({}, std::make_unique<FakeAudio>(Noise(10, 1)));
  ASSERT_TRUE(job.ok());
  EXPECT_EQ(loaded_->Memory().allocated_bytes, 65536U);
  job->reset();
  EXPECT_EQ(loaded_->Memory().allocated_bytes, 0U);
}

}  // namespace
}  // namespace superfluid
