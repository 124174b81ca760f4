// Ticks of the sim engine: order, time, cancels, and what goes wrong as asked for.

#include <new>
#include <stdexcept>
#include <vector>

#include "tests/engine/sim/sim_generation_fixture.h"

namespace superfluid {
namespace {

using ::testing::ElementsAre;
using testing::HasCode;
using ::testing::IsEmpty;
using testing::kInvalid;
using testing::kNotFound;
using testing::QuietHost;
using ::testing::SizeIs;

// Stops lanes, or cancels the tick, after so many draws of all lanes.
class CountingHost : public QuietHost {
 public:
  explicit CountingHost(CancelToken* token = nullptr) : token_(token) {}
  bool LaneStopped(size_t lane) override {
    order.push_back(lane);
    if (token_ != nullptr && order.size() == cancel_at) {
      token_->Cancel(CancelReason::kRequested, 1);
    }
    return lane == stop_lane && order.size() > stop_after;
  }
  std::vector<size_t> order;  // which lane was asked about, each time
  size_t cancel_at = SIZE_MAX;
  size_t stop_lane = SIZE_MAX;
  size_t stop_after = 0;

 private:
  CancelToken* const token_;
};

class SimTickTest : public testing::SimGenerationTest {
 protected:
  const std::vector<Token> input_ = Tokens(20);
};

TEST_F(SimTickTest, PrefillAppendsAndDrawsNothing) {
  const LaneResult result = RunOne(Lane(1, input_, 0));
  EXPECT_TRUE(result.status.ok());
  EXPECT_THAT(result.tokens, IsEmpty());
  EXPECT_EQ(result.position, 20U);
  EXPECT_EQ(result.finish, FinishReason::kNotFinished);
  EXPECT_NE(result.sequence, SequenceHandle{});
  EXPECT_EQ(*generation_->LaneSequence(LaneTag{1}), result.sequence);
}

TEST_F(SimTickTest, DecodeGoesOnWithAnEmptyInput) {
  const LaneResult whole = RunOne(Lane(1, input_, 6));
  EXPECT_THAT(whole.tokens, SizeIs(6));
  EXPECT_EQ(whole.position, 26U);
  const LaneResult first = RunOne(Lane(2, input_, 2));
  LaneWork work = Lane(2, {}, 4);
  work.sequence = first.sequence;
  const LaneResult second = RunOne(work);
  EXPECT_EQ(second.sequence, first.sequence);
  EXPECT_EQ(absl::MakeConstSpan(whole.tokens).subspan(2), absl::MakeConstSpan(second.tokens));
}

TEST_F(SimTickTest, RefusesTicksThatAreNone) {
  EXPECT_THAT(RunTick({}), HasCode(kInvalid));
  EXPECT_THAT(RunTick({Lane(1, input_, 0), Lane(1, input_, 0)}), HasCode(kInvalid));
  const SequenceHandle sequence = Prefill(input_);
  std::vector<LaneWork> lanes = {Lane(1, {}, 1), Lane(2, {}, 1)};
  lanes[0].sequence = lanes[1].sequence = sequence;
  EXPECT_THAT(RunTick(lanes), HasCode(kInvalid));
  std::vector<LaneWork> many(257);
  for (size_t i = 0; i < many.size(); ++i) many[i] = Lane(i, input_, 0);
  EXPECT_THAT(RunTick(many), HasCode(kInvalid));
  many.pop_back();
  EXPECT_THAT(*RunTick(many), SizeIs(256));
}

TEST_F(SimTickTest, LanesInterleave) {
  CountingHost host;
  const auto results = RunTick({Lane(1, input_, 3), Lane(2, input_, 1), Lane(3, input_, 2)}, host);
  ASSERT_TRUE(results.ok());
  EXPECT_THAT(host.order, ElementsAre(0, 1, 2, 0, 2, 0));
}

TEST_F(SimTickTest, AStoppedLaneStopsAlone) {
  CountingHost host;
  host.stop_lane = 0;
  host.stop_after = 2;
  const auto results = RunTick({Lane(1, input_, 5), Lane(2, input_, 5)}, host);
  ASSERT_TRUE(results.ok());
  EXPECT_THAT((*results)[0].tokens, SizeIs(1));
  EXPECT_EQ((*results)[0].finish, FinishReason::kStopped);
  EXPECT_THAT((*results)[1].tokens, SizeIs(5));
}

TEST_F(SimTickTest, ACancelStopsAllLanes) {
  CountingHost host(&token_);
  host.cancel_at = 4;
  const auto results = RunTick({Lane(1, input_, 9), Lane(2, input_, 9)}, host);
  ASSERT_TRUE(results.ok());
  for (const LaneResult& result : *results) {
    EXPECT_EQ(result.finish, FinishReason::kStopped);
    EXPECT_THAT(result.tokens, SizeIs(2));
    EXPECT_EQ(result.position, 22U);
  }
}

TEST_F(SimTickTest, ACancelBeforeLeavesLanesAsTheyWere) {
  token_.Cancel(CancelReason::kRequested, 1);
  const LaneResult result = RunOne(Lane(1, input_, 9));
  EXPECT_EQ(result.finish, FinishReason::kStopped);
  EXPECT_EQ(result.position, 0U);
  EXPECT_NE(result.sequence, SequenceHandle{});
}

TEST_F(SimTickTest, EmitsWhatItDraws) {
  QuietHost host;
  const std::vector<LaneWork> lanes = {Lane(1, input_, 3), Lane(2, input_, 5)};
  Tick tick;
  tick.lanes = lanes;
  ASSERT_TRUE(generation_->RunTick(tick, token_, host).ok());
  EXPECT_THAT(host.emitted, IsEmpty());
  tick.partial_emits = true;
  const auto results = generation_->RunTick(tick, token_, host);
  ASSERT_TRUE(results.ok());
  EXPECT_THAT(host.emitted, ElementsAre((*results)[0].tokens, (*results)[1].tokens));
}

TEST_F(SimTickTest, TimeIsSpentOnTicksAndPasses) {
  Make({{"tick_us", "1000"}, {"token_us", "10"}});
  const absl::Time start = clock_->now;
  const LaneResult plain = RunOne(Lane(1, input_, 5));
  EXPECT_EQ(clock_->now - start, absl::Microseconds(1050));
  LaneWork verify = Lane(2, input_, 5);
  verify.kind = LaneKind::kVerify;
  verify.drafts = absl::MakeConstSpan(plain.tokens).first(4);
  const absl::Time before = clock_->now;
  EXPECT_THAT(RunOne(verify).tokens, SizeIs(5));
  EXPECT_EQ(clock_->now - before, absl::Microseconds(1010));
}

TEST_F(SimTickTest, CancelIsSeenBetweenDraws) {
  Make({{"token_us", "10"}});
  int spent = 0;
  clock_->on_spend = [&] {
    if (++spent == 4) token_.Cancel(CancelReason::kDeadline, 1);
  };
  const LaneResult result = RunOne(Lane(1, input_, 100));
  EXPECT_EQ(result.finish, FinishReason::kStopped);
  EXPECT_THAT(result.tokens, SizeIs(3));
}

TEST_F(SimTickTest, FailsInTheWaysAskedFor) {
  Make({{"fail_at_tick", "2"},
        {"throw_at_tick", "3"},
        {"out_of_memory_at_tick", "4"},
        {"stuck_at_tick", "5"},
        {"stuck_ms", "300"},
        {"slow_at_tick", "6"},
        {"slow_us", "700"}});
  const SequenceHandle sequence = Prefill(input_);
  LaneWork work = Lane(1, input_, 3);
  work.sequence = sequence;
  EXPECT_THAT(RunTick({work}), HasCode(absl::StatusCode::kInternal));
  EXPECT_THROW((void)RunTick({work}), std::runtime_error);
  EXPECT_THROW((void)RunTick({work}), std::bad_alloc);
  absl::Time before = clock_->now;
  const LaneResult result = RunOne(work);
  EXPECT_EQ(clock_->now - before, absl::Milliseconds(300));
  EXPECT_EQ(result.position, 43U);  // nothing was done by those that failed
  before = clock_->now;
  RunOne(Lane(2, input_, 0));
  EXPECT_EQ(clock_->now - before, absl::Microseconds(700));
}

TEST_F(SimTickTest, GivesWrongResultsIfAskedTo) {
  const auto wrong = [&](const std::string& how) {
    Make({{"wrong_at_tick", "1"}, {"wrong_result", how}});
    return *RunTick({Lane(1, input_, 2), Lane(2, input_, 2)});
  };
  EXPECT_THAT(wrong("lane_count"), SizeIs(1));
  EXPECT_THAT(wrong("too_many_tokens")[0].tokens, SizeIs(kMaxLaneTokens + 1));
  EXPECT_THAT(wrong("bad_token")[0].tokens, ElementsAre(256));
  EXPECT_EQ(wrong("zero_handle")[0].sequence, SequenceHandle{});
  EXPECT_THAT(wrong("too_many_logits")[0].logits, SizeIs(kMaxLaneLogits + 1));
  const auto results = wrong("wrong_sequence");
  EXPECT_THAT(generation_->FreeSequence(results[0].sequence), HasCode(kNotFound));
}

}  // namespace
}  // namespace superfluid
