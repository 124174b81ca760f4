// Ticks of a C++ engine behind the C interface: lanes, results, callbacks, and what the host does
// not believe.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/engine/abi/generation_fixture.h"

namespace superfluid {
namespace {

using testing::Describe;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

LaneWork Decode(uint32_t max_tokens, SequenceHandle sequence = {}) {
  static const std::vector<Token> kInput = {1, 2, 3};
  LaneWork lane;
  lane.sequence = sequence;
  lane.input = kInput;
  lane.max_tokens = max_tokens;
  return lane;
}

// A result by the rules for a new sequence with that handle.
LaneResult Drew(std::vector<Token> tokens, uint64_t sequence) {
  LaneResult result;
  result.position = 3 + tokens.size();
  result.tokens = std::move(tokens);
  result.sequence = SequenceHandle{sequence};
  return result;
}

class TickSdkTest : public testing::GenerationFixture {
 protected:
  absl::StatusOr<std::vector<LaneResult>> Run(const std::vector<LaneWork>& lanes,
                                              bool emits = false) {
    return generation().RunTick({77, emits, lanes}, token_, host_);
  }
  // A tick of one lane that decodes 4 tokens and answers `result`.
  absl::Status Answering(const LaneResult& result) {
    script_.tick = [&](const Tick&, const CancelToken&, TickHost&) {
      return std::vector<LaneResult>{result};
    };
    return Run({Decode(4)}).status();
  }
};

TEST_F(TickSdkTest, LanesAndResultsArrive) {
  const SequenceHandle sequence = Sequence();
  const std::vector<Token> input = {1, 2};
  const std::vector<Token> stops = {3};
  const std::vector<Token> drafts = {4, 5};
  LaneWork full;
  full.tag = LaneTag{9};
  full.sequence = sequence;
  full.kind = LaneKind::kVerify;
  full.input = input;
  full.max_tokens = 8;
  full.sampling = {0.5F, 40, 0.75F, 0.125F, 1.5F, 1234567890123};
  full.grammar = *generation().CreateGrammar("g", {});
  full.logit_bias = *generation().CreateLogitBias({}, {});
  full.stop_tokens = stops;
  full.drafts = drafts;
  full.want_logits = true;
  LaneWork prefill;
  prefill.tag = LaneTag{0};
  prefill.kind = LaneKind::kPrefill;
  std::vector<LaneResult> answers(2);
  answers[0] = {
      absl::OkStatus(), {4, 5, 6}, {{7, 2.5F}, {8, -1}}, FinishReason::kLength, sequence, 100, 2};
  answers[1].sequence = SequenceHandle{500};
  script_.tick = [&](const Tick&, const CancelToken&, TickHost&) { return answers; };
  const auto results = Run({full, prefill}, true);
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ(LastCall(), "tick 77 emits " + Describe(full) + " | " + Describe(prefill));
  ASSERT_THAT(*results, SizeIs(2));
  EXPECT_EQ(Describe((*results)[0]), Describe(answers[0]));
  EXPECT_EQ(Describe((*results)[1]), Describe(answers[1]));
  // The new sequence is one now.
  EXPECT_TRUE(generation().Trim(SequenceHandle{500}, SpaceId{}, 0).ok());
}

TEST_F(TickSdkTest, ALanesOwnTroubleArrivesAndTheOthersRun) {
  LaneResult failed;
  failed.status = absl::ResourceExhaustedError("no room");
  failed.finish = FinishReason::kError;
  script_.tick = [&](const Tick&, const CancelToken&, TickHost&) {
    return std::vector<LaneResult>{failed, Drew({1}, 500)};
  };
  const auto results = Run({Decode(1), Decode(1)});
  ASSERT_TRUE(results.ok());
  EXPECT_EQ((*results)[0].status, failed.status);
  EXPECT_EQ((*results)[0].finish, FinishReason::kError);
  EXPECT_EQ((*results)[0].sequence, SequenceHandle{});
  EXPECT_TRUE((*results)[1].status.ok());
}

TEST_F(TickSdkTest, EmitsArriveInOrder) {
  script_.tick = [&](const Tick&, const CancelToken&, TickHost& host) {
    const std::vector<Token> tokens = {10, 11, 12};
    host.Emit(1, absl::MakeConstSpan(tokens).subspan(0, 2));
    host.Emit(0, absl::MakeConstSpan(tokens).subspan(2));
    host.Emit(1, absl::MakeConstSpan(tokens).subspan(2));
    return std::vector<LaneResult>{Drew({12, 13}, 500), Drew({10, 11, 12}, 501)};
  };
  ASSERT_TRUE(Run({Decode(2), Decode(3)}, true).ok());
  EXPECT_THAT(host_.emits, ElementsAre(Pair(1, ElementsAre(10, 11)), Pair(0, ElementsAre(12)),
                                       Pair(1, ElementsAre(12))));
}

TEST_F(TickSdkTest, StopsArrive) {
  host_.stopped_lane = 1;
  script_.tick = [&](const Tick&, const CancelToken& token, TickHost& host) {
    EXPECT_FALSE(host.LaneStopped(0));
    EXPECT_TRUE(host.LaneStopped(1));
    EXPECT_FALSE(token.cancelled());
    token_.Cancel(CancelReason::kDeadline, 1);
    EXPECT_EQ(token.reason(), CancelReason::kDeadline);
    std::vector<LaneResult> results = {Drew({1}, 500), Drew({}, 501)};
    results[0].finish = results[1].finish = FinishReason::kStopped;
    return results;
  };
  const auto results = Run({Decode(2), Decode(2)});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ((*results)[0].finish, FinishReason::kStopped);
  EXPECT_EQ(host_.asked, 2);
}

TEST_F(TickSdkTest, ALaneStoppedBeforeItBeganHasNoSequence) {
  host_.stopped_lane = 0;
  script_.tick = [&](const Tick&, const CancelToken&, TickHost& host) {
    EXPECT_TRUE(host.LaneStopped(0));
    LaneResult result;
    result.finish = FinishReason::kStopped;
    return std::vector<LaneResult>{result};
  };
  const auto results = Run({Decode(2)});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ((*results)[0].sequence, SequenceHandle{});
}

// The lane that the engine does not get to see shifts the others' places.
TEST_F(TickSdkTest, LanesWithBadHandlesOrTokensFailAloneAndUnseen) {
  const std::vector<Token> outside = {1000};
  std::vector<LaneWork> lanes(7, Decode(1));
  lanes[0].sequence = SequenceHandle{9};
  lanes[1].grammar = GrammarHandle{9};
  lanes[2].logit_bias = LogitBiasHandle{9};
  lanes[3].strategy = StrategySlot{9};
  lanes[4].input = outside;
  lanes[5].drafts = outside;
  lanes[6].stop_tokens = outside;
  for (const LaneWork& bad : lanes) {
    script_.calls.clear();
    script_.tick = [&](const Tick& tick, const CancelToken&, TickHost& host) {
      EXPECT_THAT(tick.lanes, SizeIs(1));
      const std::vector<Token> token = {5};
      host.Emit(0, token);
      static uint64_t next = 500;
      return std::vector<LaneResult>{Drew({5}, next++)};
    };
    host_.emits.clear();
    const auto results = Run({bad, Decode(1)}, true);
    ASSERT_TRUE(results.ok()) << results.status();
    EXPECT_FALSE((*results)[0].status.ok());
    EXPECT_EQ((*results)[0].finish, FinishReason::kError);
    EXPECT_EQ((*results)[0].sequence, bad.sequence);
    EXPECT_TRUE((*results)[1].status.ok());
    EXPECT_THAT(host_.emits, ElementsAre(Pair(1, ElementsAre(5))));
    script_.calls.clear();
    ASSERT_TRUE(Run({bad}).ok());
    EXPECT_THAT(script_.calls, IsEmpty());
  }
}

TEST_F(TickSdkTest, TooManyLanesDoNotReachTheEngine) {
  EXPECT_EQ(Run(std::vector<LaneWork>(5, Decode(1))).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(script_.calls, IsEmpty());
}

TEST_F(TickSdkTest, BuiltInAndRegisteredStrategiesMayBeUsed) {
  script_.strategies = {{StrategySlot{3}, "ngram", ""}};
  script_.terms.slot = StrategySlot{4};
  ASSERT_TRUE(Make().ok());
  ASSERT_TRUE(generation().RegisterStrategy({}).ok());
  uint64_t next = 500;
  script_.tick = [&](const Tick&, const CancelToken&, TickHost&) {
    return std::vector<LaneResult>{Drew({1}, next++)};
  };
  for (const uint32_t slot : {3U, 4U}) {
    LaneWork lane = Decode(1);
    lane.strategy = StrategySlot{slot};
    EXPECT_TRUE((*Run({lane}))[0].status.ok());
  }
  generation().EndSession();
  LaneWork lane = Decode(1);
  lane.strategy = StrategySlot{4};
  EXPECT_FALSE((*Run({lane}))[0].status.ok());
}

class ThrowingHost : public TickHost {
 public:
  bool LaneStopped(size_t) override { throw std::runtime_error("no bits"); }
  void Emit(size_t, absl::Span<const Token>) override { throw std::runtime_error("no room"); }
};

TEST_F(TickSdkTest, AnExceptionOfTheHostStopsAtTheCallback) {
  ThrowingHost host;
  const std::vector<LaneWork> lanes = {Decode(1)};
  script_.tick = [&](const Tick&, const CancelToken&, TickHost& seen) {
    EXPECT_TRUE(seen.LaneStopped(0));
    return std::vector<LaneResult>{Drew({1}, 500)};
  };
  EXPECT_EQ(generation().RunTick({1, true, lanes}, token_, host).status(),
            absl::InternalError("the host of the tick threw an exception: no bits"));
  script_.tick = [&](const Tick&, const CancelToken&, TickHost& seen) {
    const std::vector<Token> token = {1};
    seen.Emit(0, token);
    return std::vector<LaneResult>{Drew({1}, 500)};
  };
  EXPECT_EQ(generation().RunTick({1, true, lanes}, token_, host).status(),
            absl::InternalError("the host of the tick threw an exception: no room"));
}

TEST_F(TickSdkTest, AnEmitThatTheHostRefusesFailsTheTick) {
  script_.tick = [&](const Tick&, const CancelToken&, TickHost& host) {
    const std::vector<Token> tokens = {1, 2};
    host.Emit(0, tokens);
    return std::vector<LaneResult>{Drew({1}, 500)};
  };
  const absl::Status status = Run({Decode(1)}, true).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("more tokens than it may draw"));
}

// ---- What a C++ engine can still get wrong ----

TEST_F(TickSdkTest, ResultsThatBreakARuleAreInternal) {
  const LaneResult good = Drew({1, 2}, 500);
  std::vector<std::pair<LaneResult, std::string>> cases;
  const auto add = [&](const std::string& text, auto change) {
    LaneResult bad = good;
    change(bad);
    cases.emplace_back(bad, text);
  };
  add("drew 5 tokens where 4", [](LaneResult& r) { r.tokens.assign(5, 1); });
  add("token 1000, which is outside", [](LaneResult& r) { r.tokens[1] = 1000; });
  add("for the reason 4", [](LaneResult& r) { r.finish = FinishReason::kError; });
  add("a stop token but drew none", [](LaneResult& r) {
    r.tokens.clear();
    r.finish = FinishReason::kStopToken;
  });
  add("nobody stopped", [](LaneResult& r) { r.finish = FinishReason::kStopped; });
  add("1 logits where 0", [](LaneResult& r) { r.logits = {{1, 1}}; });
  add("at position 4", [](LaneResult& r) { r.position = 4; });
  add("at position 6", [](LaneResult& r) { r.position = 6; });
  add("accepted 3 drafts", [](LaneResult& r) { r.accepted_drafts = 3; });
  add("handed out 0", [](LaneResult& r) { r.sequence = {}; });
  for (const auto& [bad, text] : cases) {
    const absl::Status status = Answering(bad);
    EXPECT_EQ(status.code(), absl::StatusCode::kInternal) << text;
    EXPECT_THAT(std::string(status.message()), HasSubstr(text));
  }
  EXPECT_TRUE(Answering(good).ok());
  EXPECT_THAT(std::string(Answering(good).message()), HasSubstr("sequence 500 a second time"));
}

TEST_F(TickSdkTest, TheWrongNumberOfResultsIsInternal) {
  script_.tick = [&](const Tick&, const CancelToken&, TickHost&) {
    return std::vector<LaneResult>();
  };
  EXPECT_EQ(Run({Decode(1)}).status().code(), absl::StatusCode::kInternal);
}

TEST_F(TickSdkTest, ACancelThatNobodyAskedForIsInternal) {
  script_.tick = [&](const Tick&, const CancelToken&,
                     TickHost&) -> absl::StatusOr<std::vector<LaneResult>> {
    return absl::CancelledError("just so");
  };
  EXPECT_EQ(Run({Decode(1)}).status(),
            absl::InternalError("run_tick: the engine cancelled what nobody cancelled"));
}

}  // namespace
}  // namespace superfluid
