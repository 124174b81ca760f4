#include "actors/engine/tick_checks.h"

#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "shm/control.h"

namespace superfluid {
namespace {

class TickChecksTest : public testing::Test {
 protected:
  TickChecksTest() {
    info_.vocab_size = 1000;
    for (const HandleKind kind : {HandleKind::kSequence, HandleKind::kGrammar,
                                  HandleKind::kLogitBias, HandleKind::kStrategy}) {
      EXPECT_TRUE(handles_.Add(kind, 5).ok());
    }
  }

  // One of these is mostly fine, sometimes not.
  template <class T>
  T OneOf(std::initializer_list<T> fine, std::initializer_list<T> wrong) {
    const auto& from = random_() % 24 == 0 ? wrong : fine;
    return from.begin()[random_() % from.size()];
  }
  std::vector<Token> Tokens(size_t most) {
    std::vector<Token> tokens(random_() % (most + 1));
    for (Token& token : tokens) token = OneOf<Token>({0, 1, 999}, {1000, ~Token{0}});
    return tokens;
  }
  linkw::Lane RandomLane() {
    linkw::Lane lane;
    lane.kind = static_cast<linkw::LaneKind>(1 + random_() % 3);
    const bool draws = lane.kind != linkw::LaneKind::kPrefill;
    lane.max_tokens = OneOf<uint32_t>({0, draws ? 1u : 0u, draws ? 1024u : 0u}, {1, 1025});
    lane.sequence = linkw::SequenceId{OneOf<uint64_t>({0, 5}, {6})};
    lane.grammar_handle = linkw::GrammarHandle{OneOf<uint64_t>({0, 5}, {6})};
    lane.logit_bias_handle = linkw::LogitBiasHandle{OneOf<uint64_t>({0, 5}, {6})};
    const bool decodes = lane.kind == linkw::LaneKind::kDecode;
    lane.strategy_slot = linkw::StrategySlot{OneOf<uint32_t>({0, decodes ? 5u : 0u}, {5, 6})};
    lane.stop_slot = OneOf<uint32_t>({0, 1, kControlLanes}, {kControlLanes + 1});
    if (lane.kind == linkw::LaneKind::kVerify || random_() % 24 == 0) lane.draft_tokens = Tokens(2);
    lane.stop_tokens = Tokens(2);
    lane.sampling = {.temperature = OneOf<float>({0, 1}, {-1}),
                     .top_p = OneOf<float>({0, 0.5, 1}, {-0.1F, 1.1F}),
                     .min_p = OneOf<float>({0, 0.5, 1}, {-0.1F, 1.1F}),
                     .repetition_penalty = OneOf<float>({0, 1}, {-1})};
    return lane;
  }

  std::mt19937_64 random_{1};
  EngineInfo info_;
  HandleBook handles_;
};

TEST_F(TickChecksTest, TheQuickCheckSaysWhatTheOtherOneSays) {
  int fine = 0;
  for (int i = 0; i < 20000; ++i) {
    const linkw::Lane lane = RandomLane();
    const std::vector<Token> input = Tokens(2);
    const absl::Status status = CheckLane({info_, handles_}, lane, input);
    ASSERT_EQ(IsLaneFine({info_, handles_}, lane, input), status.ok()) << i << ": " << status;
    fine += status.ok() ? 1 : 0;
  }
  EXPECT_GT(fine, 5000);
  EXPECT_LT(fine, 15000);
}

TEST_F(TickChecksTest, BothSeeThatThereIsNoRoomForANewSequence) {
  for (uint64_t handle = 10; handles_.CheckRoom(HandleKind::kSequence).ok(); ++handle) {
    ASSERT_TRUE(handles_.Add(HandleKind::kSequence, handle).ok());
  }
  linkw::Lane lane;
  EXPECT_FALSE(IsLaneFine({info_, handles_}, lane, {}));
  EXPECT_FALSE(CheckLane({info_, handles_}, lane, {}).ok());
  lane.sequence = linkw::SequenceId{5};
  EXPECT_TRUE(IsLaneFine({info_, handles_}, lane, {}));
  EXPECT_TRUE(CheckLane({info_, handles_}, lane, {}).ok());
}

}  // namespace
}  // namespace superfluid
