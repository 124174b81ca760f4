// What goes wrong in an engine behind the C interface, and what the host finds before the engine is
// called: for every call of Generation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/engine/abi/generation_calls.h"
#include "tests/engine/abi/generation_fixture.h"

namespace superfluid {
namespace {

using ::testing::IsEmpty;

class GenerationErrorTest : public testing::GenerationFixture {
 protected:
  std::vector<testing::NamedCall> Calls() {
    return testing::AllGenerationCalls(Sequence(), *generation().CreateGrammar("", {}),
                                       *generation().CreateLogitBias({}, {}),
                                       generation().EncodeMedia("", {})->handle);
  }
};

TEST_F(GenerationErrorTest, StatusesArriveWithTheCallsName) {
  const std::vector<testing::NamedCall> calls = Calls();
  EXPECT_EQ(calls.size(), 34U);
  for (const testing::NamedCall& call : calls) {
    script_.failure = absl::FailedPreconditionError("not now");
    EXPECT_EQ(call.call(generation()),
              absl::FailedPreconditionError(std::string(call.name) + ": not now"));
  }
}

TEST_F(GenerationErrorTest, ExceptionsBecomeStatuses) {
  for (const testing::NamedCall& call : Calls()) {
    script_.thrower = [] { throw std::runtime_error("oh"); };
    EXPECT_EQ(call.call(generation()),
              absl::InternalError(std::string(call.name) + ": the engine threw an exception: oh"));
  }
}

TEST_F(GenerationErrorTest, NoMemoryBecomesAStatus) {
  for (const testing::NamedCall& call : Calls()) {
    script_.thrower = [] { throw std::bad_alloc(); };
    EXPECT_EQ(call.call(generation()).code(), absl::StatusCode::kResourceExhausted) << call.name;
  }
}

TEST_F(GenerationErrorTest, AnExceptionAtTheEndOfTheSessionHarmsNobody) {
  script_.thrower = [] { throw 42; };
  generation().EndSession();
  EXPECT_EQ(LastCall(), "end");
}

// ---- What the host finds before the engine is called ----

TEST_F(GenerationErrorTest, HandlesThatWereNotHandedOutDoNotReachTheEngine) {
  const std::vector<testing::NamedCall> calls = testing::AllGenerationCalls(
      SequenceHandle{1}, GrammarHandle{2}, LogitBiasHandle{3}, MediaHandle{4});
  int refused = 0;
  for (const testing::NamedCall& call : calls) {
    script_.calls.clear();
    if (call.call(generation()).code() != absl::StatusCode::kNotFound) continue;
    ++refused;
    EXPECT_THAT(script_.calls, IsEmpty()) << call.name;
    if (refused == 14) break;
  }
  EXPECT_EQ(refused, 14);
}

TEST_F(GenerationErrorTest, FreedHandlesDoNotReachTheEngine) {
  const SequenceHandle sequence = Sequence();
  ASSERT_TRUE(generation().FreeSequence(sequence).ok());
  script_.calls.clear();
  EXPECT_EQ(generation().FreeSequence(sequence).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(generation().Fork(sequence, 0).status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(script_.calls, IsEmpty());
}

TEST_F(GenerationErrorTest, TheEndOfTheSessionEndsItsHandles) {
  const SequenceHandle sequence = Sequence();
  const GrammarHandle grammar = *generation().CreateGrammar("", {});
  generation().EndSession();
  EXPECT_EQ(generation().FreeSequence(sequence).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(generation().FreeGrammar(grammar).code(), absl::StatusCode::kNotFound);
}

TEST_F(GenerationErrorTest, TokensOutsideTheVocabularyDoNotReachTheEngine) {
  const SequenceHandle sequence = Sequence();
  const std::vector<Token> tokens = {1, 1000};
  const std::vector<float> values = {1, 1};
  script_.calls.clear();
  for (const absl::Status& status :
       {generation().Match(tokens, {}).status(),
        generation().AcquireSeed(tokens, 1, 0, {}).status(), generation().Unpublish(tokens),
        generation().PublishSequence(sequence, tokens, {}),
        generation().AdoptSequence(sequence, tokens, {}).status(),
        generation().CreateLogitBias(tokens, values).status(),
        generation().Embed(tokens, {}).status(),
        generation().ForwardStage({tokens, 0, 1, false, ""}, {}).status()}) {
    EXPECT_EQ(status, absl::InvalidArgumentError("token 1000 is outside the vocabulary of 1000"));
  }
  EXPECT_THAT(script_.calls, IsEmpty());
}

TEST_F(GenerationErrorTest, NumbersThatDoNotFitDoNotReachTheEngine) {
  const SequenceHandle sequence = Sequence();
  const std::vector<Token> tokens = {1};
  script_.calls.clear();
  for (const absl::Status& status :
       {generation().SizeOfExport(sequence, SpaceId{}, {2, 1}, 0).status(),
        generation().Provenance(sequence, SpaceId{}, {2, 1}).status(),
        generation().StartExport({sequence, SpaceId{}, {2, 1}, 0, false}, {}).status(),
        generation().StartImport({sequence, SpaceId{}, {2, 1}, 0, {}, false}, {}).status(),
        generation().AcquireSeed(tokens, 2, 0, {}).status(),
        generation().CreateLogitBias(tokens, {}).status()}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  }
  EXPECT_THAT(script_.calls, IsEmpty());
}

}  // namespace
}  // namespace superfluid
