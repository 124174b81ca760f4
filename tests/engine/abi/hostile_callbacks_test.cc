// The host against a plug-in that generates and uses what the host passes it in wrong ways, or at
// wrong times.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "tests/engine/abi/hostile_generation_fixture.h"

namespace superfluid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class HostileCallbacksTest : public testing::HostileGeneration {};

TEST_F(HostileCallbacksTest, AFailureToDescribeIsTheEnginesOwn) {
  EXPECT_EQ(Load("spaces_fail").code(), absl::StatusCode::kUnavailable);
}

TEST_F(HostileCallbacksTest, AnUnterminatedNameEndsWithItsRoom) {
  MustLoad("spaces_unterminated_name");
  EXPECT_EQ(generation().StateSpaces()[0].name, std::string(256, 'n'));
}

TEST_F(HostileCallbacksTest, DoesNothingWrongIfNotAskedTo) {
  MustLoad("");
  const auto results = Tick2();
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_THAT((*results)[1].tokens, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT((*results)[1].logits, SizeIs(32));
  for (const auto& [name, action] : testing::HostileActions()) {
    if (name == "lane") continue;
    EXPECT_TRUE(action(generation()).ok()) << name;
  }
}

// Swapped pointers and sizes are not followed: the host uses its own.
TEST_F(HostileCallbacksTest, SwappedPointersAreNotFollowed) {
  MustLoad("embed_swapped");
  EXPECT_THAT(*generation().Embed({}, {}), ElementsAre(1, 1));
  MustLoad("stage_swapped");
  EXPECT_EQ(std::get<std::string>(*generation().ForwardStage({}, {})), "h");
  MustLoad("strategy_swapped");
  EXPECT_THAT(generation().RegisterStrategy({})->certificates, SizeIs(64));
  MustLoad("tick_swaps_pointers");
  const auto results = Tick2();
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ((*results)[0].status, absl::InvalidArgumentError(""));
  EXPECT_TRUE((*results)[1].status.ok());
}

TEST_F(HostileCallbacksTest, ASequenceThatAnswersForAnotherIsInternal) {
  MustLoad("tick_sequence_of_another");
  std::vector<LaneWork> lanes(1);
  lanes[0].sequence = *generation().CreateSequence();
  EXPECT_THAT(
      std::string(generation().RunTick({1, false, lanes}, token_, host_).status().message()),
      HasSubstr("answered for sequence 123456 instead of 1"));
}

TEST_F(HostileCallbacksTest, ATickThatWasClobberedHarmsNoLaterOne) {
  MustLoad("tick_clobbers");
  EXPECT_FALSE(Tick2().ok());
  EXPECT_FALSE(Tick2().ok());
}

// OK only for no tokens, and for two in the end; what was refused had no effect.
TEST_F(HostileCallbacksTest, BadPointersAndCountsThroughEmit) {
  MustLoad("bad_emits");
  const auto results = Tick2();
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_THAT(log_, ElementsAre("3,3,0,9,9,3,3,3,3,3,0,1,1,1,"));
  EXPECT_THAT(host_.emits, ElementsAre(::testing::Pair(0, ElementsAre(1, 2))));
}

TEST_F(HostileCallbacksTest, EmitsThatNobodyWants) {
  MustLoad("emit_unwanted");
  EXPECT_TRUE(Tick2(/*emits=*/false).ok());
  EXPECT_THAT(log_, ElementsAre("9,"));
  EXPECT_THAT(host_.emits, IsEmpty());
}

TEST_F(HostileCallbacksTest, CallbacksFromAForeignThread) {
  MustLoad("foreign_thread");
  EXPECT_TRUE(Tick2().ok());
  EXPECT_THAT(log_, ElementsAre("9,1,0,"));
  EXPECT_EQ(host_.asked, 0);
}

TEST_F(HostileCallbacksTest, CallbacksAfterTheTickAndAfterTheJob) {
  MustLoad("late_callbacks");
  ASSERT_TRUE(Tick2().ok());
  ASSERT_TRUE(testing::RunHostileExport(generation()).ok());
  EXPECT_TRUE(generation().CreateSequence().ok());
  EXPECT_THAT(log_, ElementsAre("9,1,1,", "9,1,1,1,"));
  EXPECT_EQ(host_.asked, 0);
}

TEST_F(HostileCallbacksTest, AHandleThatWasNotFreedIsGoneAllTheSame) {
  MustLoad("free_fails");
  const SequenceHandle sequence = *generation().CreateSequence();
  EXPECT_EQ(generation().FreeSequence(sequence), absl::InternalError("free_sequence: keeps it"));
  EXPECT_EQ(generation().FreeSequence(sequence).code(), absl::StatusCode::kNotFound);
}

TEST_F(HostileCallbacksTest, AnEndOfSessionThatFailsIsLogged) {
  MustLoad("end_session_fails");
  generation().EndSession();
  EXPECT_THAT(log_, ElementsAre("end_session: would not"));
}

}  // namespace
}  // namespace superfluid
