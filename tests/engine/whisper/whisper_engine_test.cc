#include "engine/whisper/whisper_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/engine/whisper/audio_samples.h"
#include "tests/engine/whisper/engine_fixture.h"

namespace superfluid {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class WhisperEngineTest : public WhisperFixture {
 protected:
  static absl::Status Refusal(const EngineConfig& config) {
    const absl::StatusOr<std::unique_ptr<Engine>> engine = MakeWhisperEngine(config);
    EXPECT_FALSE(engine.ok());
    return engine.status();
  }

  absl::Status StartRefusal(const TranscriptionParams& params) {
    return engine_->StartTranscription(params, Samples(Quiet(1))).status();
  }

  static TranscriptionParams In(const std::string& language) {
    TranscriptionParams params;
    params.language = language;
    return params;
  }
};

TEST_F(WhisperEngineTest, SaysWhatItIs) {
  Make(WhisperConfig({{"states", "3"}}));
  EXPECT_EQ(engine_->info().name, "whisper");
  EXPECT_THAT(engine_->info().version, HasSubstr("whisper.cpp 1."));
  EXPECT_EQ(engine_->info().max_transcriptions, 3 * 16) << "jobs; those that wait hold no state";
  EXPECT_EQ(engine_->info().max_lanes, 0);
  EXPECT_GE(engine_->info().micro_step, absl::Milliseconds(20));
  EXPECT_LE(engine_->info().micro_step, absl::Seconds(10));
  EXPECT_EQ(engine_->generation(), nullptr);
  const nlohmann::json said = nlohmann::json::parse(engine_->CapabilitiesJson());
  EXPECT_EQ(said["engine"], "whisper");
  EXPECT_EQ(said["model"], "tiny_whisper.bin");
  EXPECT_EQ(said["weights"], "f16");
  EXPECT_EQ(said["device"], "cpu");
  EXPECT_EQ(said["threads"], 1);
  EXPECT_EQ(said["calls"], nlohmann::json::array({"transcribe"}));
  EXPECT_EQ(said["transcribe"]["languages"].size(), 99U);
  EXPECT_EQ(said["transcribe"]["voice_activity"], false);
  EXPECT_EQ(said["stops_inside_a_step"], true);
}

TEST_F(WhisperEngineTest, ManyJobsOnFewStates) {
  Make(WhisperConfig({{"states", "2"}}));
  std::vector<std::unique_ptr<TranscriptionJob>> jobs;
  for (int i = 0; i < 32; ++i) jobs.push_back(Start(Samples(Quiet(1))));
  EXPECT_EQ(engine_->Memory().pool_blocks_total, 2U);
  EXPECT_EQ(engine_->Memory().pool_blocks_used, 0U);
  const absl::Status status = StartRefusal(English());
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("all 32 transcriptions"));
  jobs.pop_back();
  EXPECT_TRUE(StartRefusal(English()).ok());
}

TEST_F(WhisperEngineTest, MemoryGrowsByAStateAJobAndStays) {
  Make(WhisperConfig({{"states", "2"}, {"temperature_inc", "0"}}));
  const uint64_t at_first = engine_->Memory().allocated_bytes;
  EXPECT_GT(at_first, 8'000'000U) << "the weights";
  Hear(Babble(1));
  EXPECT_EQ(engine_->Memory().allocated_bytes, at_first) << "the first state was made at the start";
}

TEST_F(WhisperEngineTest, MemoryIsTheWeightsAndTheStatesThatExist) {
  Make(WhisperConfig({{"states", "3"}, {"temperature_inc", "0"}}));
  const auto allocated = [this] { return engine_->Memory().allocated_bytes; };
  const uint64_t with_one = allocated();
  const uint64_t weights = std::filesystem::file_size(kTinyModel);
  ASSERT_GT(with_one, weights);
  const uint64_t state = with_one - weights;
  // What the library says that it takes, not what the schedulers reserve and never touch.
  EXPECT_GT(state, 50'000'000U);
  EXPECT_LT(state, 200'000'000U);

  KeepSegments sink;
  CancelToken token;
  std::unique_ptr<TranscriptionJob> first = Start(Samples(Babble(2)));
  std::unique_ptr<TranscriptionJob> second = Start(Samples(Babble(2)));
  EXPECT_EQ(allocated(), with_one) << "a job makes its state when it begins";
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(first->Step({}, token, sink).ok());
    EXPECT_EQ(allocated(), i == 0 ? with_one : with_one + state);
    ASSERT_TRUE(second->Step({}, token, sink).ok());
    EXPECT_EQ(allocated(), with_one + state);
  }
  token.Cancel(CancelReason::kRequested, 1);
  EXPECT_EQ(first->Step({}, token, sink).status().code(), absl::StatusCode::kCancelled);
  first.reset();
  second.reset();
  EXPECT_EQ(allocated(), with_one + state) << "both are kept";
  Hear(Babble(2));
  EXPECT_EQ(allocated(), with_one + state);
  Make(WhisperConfig({{"temperature_inc", "0"}}));
  EXPECT_EQ(allocated(), with_one) << "an engine like the other says the same";
}

// Random numbers were drawn on it, so it is freed; see StatePool.
TEST_F(WhisperEngineTest, AFreedStateIsNotCounted) {
  Make(WhisperConfig({{"beam_size", "2"}, {"temperature_inc", "0"}}));
  const uint64_t with_one = engine_->Memory().allocated_bytes;
  const uint64_t weights = std::filesystem::file_size(kTinyModel);
  for (int i = 0; i < 2; ++i) {
    std::unique_ptr<TranscriptionJob> job = Start(Samples(Babble(1)));
    KeepSegments sink;
    const CancelToken token;
    absl::StatusOr<StepOutcome> outcome = StepOutcome::kMore;
    while (outcome.ok() && *outcome == StepOutcome::kMore) {
      outcome = job->Step({}, token, sink);
      const uint64_t allocated = engine_->Memory().allocated_bytes;
      EXPECT_TRUE(allocated == with_one || allocated == weights) << allocated;
    }
    EXPECT_TRUE(outcome.ok()) << outcome.status();
    job.reset();
    EXPECT_EQ(engine_->Memory().allocated_bytes, weights);
  }
}

// The machines that the tests run on have none, or fewer.
TEST_F(WhisperEngineTest, ADeviceThatDoesNotExistIsRefused) {
  EngineConfig config = WhisperConfig();
  config.device = 1000;
  const absl::Status status = Refusal(config);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("there is no device 1000; the library sees"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("gpu=false for the CPU"));
  config.options = {{"gpu", "false"}};
  Make(config);
  EXPECT_EQ(nlohmann::json::parse(engine_->CapabilitiesJson())["device"], "cpu");
}

TEST_F(WhisperEngineTest, LanguagesOfAModel) {
  Make();
  EXPECT_TRUE(StartRefusal(In("")).ok());
  EXPECT_TRUE(StartRefusal(In("pt-BR")).ok());
  EXPECT_EQ(StartRefusal(In("xx")).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(StartRefusal(In("yue")).code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(engine_->StartTranscription({}, nullptr).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(WhisperEngineTest, AModelOfEnglishOnly) {
  Make(WhisperConfig({{"temperature_inc", "0"}}, kEnglishModel));
  EXPECT_EQ(StartRefusal(In("de")).code(), absl::StatusCode::kUnimplemented);
  const Transcript heard = Hear(Babble(6, 42), {});
  EXPECT_TRUE(heard.status.ok()) << heard.status;
  EXPECT_THAT(heard.segments, Not(IsEmpty()));
  EXPECT_EQ(heard.progress.language, "en");
  TranscriptionParams translate;
  translate.translate = true;
  EXPECT_EQ(DescribeAll(Hear(Babble(6, 42), translate).segments), DescribeAll(heard.segments))
      << "English into English is no work";
}

TEST_F(WhisperEngineTest, BadModelsAreRefusedAtTheStart) {
  EXPECT_EQ(Refusal(WhisperConfig({}, "")).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Refusal(WhisperConfig({}, "no/such.bin")).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(Refusal(WhisperConfig({}, "tools/models")).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Refusal(WhisperConfig({}, "tools/models/tiny_llama.gguf")).code(),
            absl::StatusCode::kInvalidArgument);
  for (const char* kind :
       {"counts", "empty", "header", "magic", "missing_tensor", "random", "strings", "truncated"}) {
    const absl::Status status =
        Refusal(WhisperConfig({}, absl::StrCat("tools/models/broken_whisper_", kind, ".bin")));
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << kind << ": " << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("broken_whisper")) << kind;
  }
}

// A model whose weights are no numbers is the library's to decode, and must not bring it down.
TEST_F(WhisperEngineTest, AModelOfNanIsSurvived) {
  Make(WhisperConfig({{"temperature_inc", "1"}, {"best_of", "2"}},
                     "tools/models/broken_whisper_nan.bin"));
  const Transcript heard = Hear(Babble(1));
  EXPECT_TRUE(heard.status.ok()) << heard.status;
}

TEST_F(WhisperEngineTest, BadOptionsAreRefusedAtTheStart) {
  EXPECT_EQ(Refusal(WhisperConfig({{"states", "0"}})).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Refusal(WhisperConfig({{"pool", "4"}})).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Refusal(WhisperConfig({{"vad_model", "no/such.bin"}})).code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(Refusal(WhisperConfig({{"vad_model", kTinyModel}})).code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(WhisperEngineTest, TheLibrarysLogIsOurs) {
  struct Lines {
    std::mutex mutex;
    std::vector<std::string> all;
    int errors = 0;
  } lines;
  EngineConfig config = WhisperConfig({{"temperature_inc", "0"}});
  config.log = [&lines](EngineLogLevel level, absl::string_view line) {
    const std::lock_guard<std::mutex> lock(lines.mutex);
    lines.all.emplace_back(line);
    lines.errors += level == EngineLogLevel::kError ? 1 : 0;
  };
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  Make(config);
  EXPECT_THAT(lines.all, testing::Contains(HasSubstr("n_audio_layer")));
  Hear(Babble(2));
  std::unique_ptr<TranscriptionJob> job = Start(Samples(Babble(2)));
  KeepSegments sink;
  const CancelToken token;
  for (int i = 0; i < 20; ++i) job->Step({}, token, sink).IgnoreError();
  job.reset();
  engine_.reset();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(lines.errors, 0) << "what we abort is no error";
}

TEST_F(WhisperEngineTest, PromptsOfAnyLength) {
  Make();
  TranscriptionParams params = English();
  for (const std::string& prompt :
       {std::string("x"), std::string(100'000, 'a'), std::string(50'000, ' '),
        std::string(3000, '\xE6'), std::string("\x01\x02\x7F"), std::string(5000, '!')}) {
    params.prompt = prompt;
    EXPECT_TRUE(Hear(Babble(0.5), params).status.ok());
  }
}

TEST_F(WhisperEngineTest, ThreadsAreAtLeastOneAndAtMostTheCores) {
  const auto threads = [this](int wanted) {
    EngineConfig config = WhisperConfig({{"temperature_inc", "0"}});
    config.threads = wanted;
    Make(config);
    return nlohmann::json::parse(engine_->CapabilitiesJson())["threads"].get<int>();
  };
  EXPECT_EQ(threads(0), 1);
  EXPECT_LE(threads(64), 64);
  EXPECT_TRUE(Hear(Babble(1)).status.ok());
}

TEST_F(WhisperEngineTest, SeveralMayFollowEachOther) {
  Make();
  const std::string usual = DescribeAll(Hear(Babble(2)).segments);
  Make();
  EXPECT_EQ(DescribeAll(Hear(Babble(2)).segments), usual);
}

}  // namespace
}  // namespace superfluid
