// The host against a plug-in whose functions let C++ exceptions out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "engine/cancel_token.h"
#include "engine/loader/loader.h"
#include "tests/engine/abi/engine_test_util.h"
#include "tests/engine/abi/generation_calls.h"

namespace superfluid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ThrowingGenerationTest : public ::testing::Test {
 protected:
  absl::Status Load(const std::string& at) {
    EngineConfig config = testing::ConfigWith({{"at", at}});
    config.log = [this](EngineLogLevel, absl::string_view line) { log_.emplace_back(line); };
    auto engine =
        LoadEngine("tests/engine/abi/plugins/libsuperfluid_throwing_generation.so", config);
    if (!engine.ok()) return engine.status();
    engine_ = *std::move(engine);
    return absl::OkStatus();
  }
  Generation& generation() { return *engine_->generation(); }

  std::vector<std::string> log_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(ThrowingGenerationTest, ExceptionsOutOfEveryCall) {
  ASSERT_TRUE(Load("calls").ok());
  const auto sequence = generation().CreateSequence();
  const auto grammar = generation().CreateGrammar("", {});
  const auto bias = generation().CreateLogitBias({}, {});
  const auto media = generation().EncodeMedia("", {});
  ASSERT_TRUE(sequence.ok() && grammar.ok() && bias.ok() && media.ok());
  for (const auto& [name, call] :
       testing::AllGenerationCalls(*sequence, *grammar, *bias, media->handle)) {
    EXPECT_EQ(call(generation()),
              absl::InternalError(std::string(name) + " threw an exception: thrown on purpose"));
  }
}

TEST_F(ThrowingGenerationTest, AnExceptionWhileDescribing) {
  const absl::Status status = Load("describe");
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()), HasSubstr("state_spaces threw an exception"));
}

TEST_F(ThrowingGenerationTest, ExceptionsOfAJobAndWhereNoErrorCanBeReturned) {
  ASSERT_TRUE(Load("job").ok());
  std::vector<std::byte> out(10);
  auto job = generation().StartExport({*generation().CreateSequence(), SpaceId{}, {0, 1}, 0, false},
                                      absl::MakeSpan(out));
  ASSERT_TRUE(job.ok()) << job.status();
  const CancelToken token;
  EXPECT_EQ((*job)->Step({}, token).status(),
            absl::InternalError("state_step threw an exception: thrown on purpose"));
  job->reset();
  generation().EndSession();
  EXPECT_THAT(log_, ElementsAre("state_free threw an exception: thrown on purpose",
                                "end_session threw an exception: thrown on purpose"));
}

}  // namespace
}  // namespace superfluid
