#include "actors/engine/tick_run.h"

#include <bit>
#include <utility>

#include "gtest/gtest.h"
#include "shm/control.h"
#include "tests/actors/fake_generation.h"

namespace superfluid {
namespace {

using linkw::LaneKind;

class TickRunTest : public testing::Test {
 protected:
  TickRunTest() {
    link_.rings = TickRings::Open(RingsOfTest::Again(rings_.in.segment()),
                                  RingsOfTest::Again(rings_.out.segment()),
                                  RingsOfTest::Again(rings_.logits.segment()))
                      .value();
    // Every lane draws 1, 2, ... up to what it may.
    engine_.fake().run_tick = [this](const Tick& tick, const CancelToken& /*token*/,
                                     TickHost& host) {
      std::vector<LaneResult> results;
      for (size_t i = 0; i < tick.lanes.size(); ++i) {
        LaneResult result;
        result.sequence = tick.lanes[i].sequence == SequenceHandle{} ? SequenceHandle{100 + i}
                                                                     : tick.lanes[i].sequence;
        for (uint32_t n = 1; n <= tick.lanes[i].max_tokens; ++n) result.tokens.push_back(n);
        result.position = result.tokens.size() + (takes_input_ ? tick.lanes[i].input.size() : 0);
        if (tick.partial_emits) host.Emit(i, result.tokens);
        results.push_back(std::move(result));
      }
      return results;
    };
  }

  linkw::TokenSpan Write(const std::vector<uint32_t>& tokens) {
    const SpanRef span = rings_.in.Write(next_slot_++ % 64, tokens, 0).value();
    return {linkw::RingId{span.ring}, span.slot, span.generation, span.offset, span.count};
  }

  static linkw::Lane Lane(uint64_t tag, uint32_t max_tokens) {
    linkw::Lane lane;
    lane.lane_tag = linkw::LaneTag{tag};
    lane.max_tokens = max_tokens;
    return lane;
  }

  linkw::TickResult Run(std::vector<linkw::Lane> lanes, uint32_t flags = 0) {
    const linkw::TickPlan plan{.tick_id = 5, .flags = flags, .lanes = std::move(lanes)};
    const TickRun::EmitSink sink = [this](const linkw::TickEmit& emit) { emits_.push_back(emit); };
    const std::function<void()> progress = [this] { ++signs_of_life_; };
    return TickRun(engine_.fake(), engine_.info(), link_, space_, plan, sink, progress).Run(token_);
  }

  std::vector<uint32_t> Read(const linkw::TokenSpan& span) {
    std::vector<uint32_t> words(span.count);
    const RingReader& ring = span.ring_id == linkw::kLogitsRing ? rings_.logits : rings_.out;
    const SpanRef ref{static_cast<uint32_t>(span.ring_id), span.slot, span.generation, span.offset,
                      span.count};
    EXPECT_TRUE(ring.Read(ref, absl::MakeSpan(words)).ok());
    return words;
  }

  void ExpectLaneError(linkw::Lane lane, linkw::Status status) {
    const linkw::TickResult result = Run({std::move(lane), Lane(999, 1)});
    ASSERT_EQ(result.status, linkw::Status::kOk) << result.message;
    EXPECT_EQ(result.events.lanes[0].finish_reason, linkw::FinishReason::kError);
    EXPECT_EQ(result.events.lanes[0].status, status) << result.events.lanes[0].message;
    EXPECT_FALSE(result.events.lanes[0].message.empty());
    EXPECT_EQ(result.events.lanes[1].status, linkw::Status::kOk) << "the other lane ran";
    link_.handles = {};
  }
  void ExpectRefused(std::vector<linkw::Lane> lanes, linkw::Status status) {
    const linkw::TickResult result = Run(std::move(lanes));
    EXPECT_EQ(result.status, status) << result.message;
    EXPECT_TRUE(result.events.lanes.empty());
    EXPECT_TRUE(engine_.fake().calls.empty()) << "nothing of it may run";
  }

  FakeEngine engine_;
  EngineLink link_;
  TickSpace space_;
  RingsOfTest rings_;
  CancelToken token_;
  std::vector<linkw::TickEmit> emits_;
  bool takes_input_ = true;
  int signs_of_life_ = 0;
  uint32_t next_slot_ = 0;
};

TEST_F(TickRunTest, WritesWhatWasDrawnAndKeepsNewSequences) {
  const linkw::TickResult result = Run({Lane(1, 3), Lane(2, 0)});
  ASSERT_EQ(result.status, linkw::Status::kOk) << result.message;
  EXPECT_EQ(result.events.tick_id, 5);
  EXPECT_EQ(Read(result.events.lanes[0].out), (std::vector<uint32_t>{1, 2, 3}));
  EXPECT_EQ(result.events.lanes[1].out.count, 0);
  EXPECT_EQ(result.events.lanes[1].sequence, linkw::SequenceId{101});
  EXPECT_TRUE(link_.handles.Knows(HandleKind::kSequence, 100));
}

TEST_F(TickRunTest, ASequenceIsEmptyUntilItsFirstInput) {
  const linkw::TickResult made = Run({Lane(1, 0)});
  EXPECT_EQ(link_.maybe_empty.size(), 1u);
  linkw::Lane lane = Lane(1, 0);
  lane.sequence = made.events.lanes[0].sequence;
  Run({lane});
  EXPECT_EQ(link_.maybe_empty.size(), 1u);
  takes_input_ = false;
  lane.input = Write({5});
  Run({lane});
  EXPECT_EQ(link_.maybe_empty.size(), 1u) << "it was stopped before it took its input";
  takes_input_ = true;
  lane.input = Write({5});
  Run({lane});
  EXPECT_TRUE(link_.maybe_empty.empty());
}

TEST_F(TickRunTest, HandsTheInputOver) {
  std::vector<Token> seen;
  auto run = engine_.fake().run_tick;
  engine_.fake().run_tick = [&](const Tick& tick, const CancelToken& token, TickHost& host) {
    seen.assign(tick.lanes[0].input.begin(), tick.lanes[0].input.end());
    return run(tick, token, host);
  };
  linkw::Lane lane = Lane(1, 1);
  lane.input = Write({4, 5, 6});
  EXPECT_EQ(Run({lane}).status, linkw::Status::kOk);
  EXPECT_EQ(seen, (std::vector<Token>{4, 5, 6}));
}

TEST_F(TickRunTest, EmitsOnlyIfAskedTo) {
  Run({Lane(1, 2)});
  EXPECT_TRUE(emits_.empty());
  Run({Lane(2, 2)},
      linkw::kTickFlagPartialEmits);  // the same new sequence twice is an error,
  ASSERT_EQ(emits_.size(), 1);        // but was emitted before that was seen
  EXPECT_EQ(signs_of_life_, 1);
  EXPECT_EQ(emits_[0].lane_tag, linkw::LaneTag{2});
  EXPECT_EQ(emits_[0].tokens, (std::vector<uint32_t>{1, 2}));
}

TEST_F(TickRunTest, WritesLogitsAsPairs) {
  engine_.fake().run_tick = [](const Tick& tick, const CancelToken&, TickHost&) {
    LaneResult result;
    result.sequence = SequenceHandle{1};
    if (tick.lanes[0].want_logits) result.logits = {{7, 0.5F}, {8, -1.0F}};
    return std::vector<LaneResult>{result};
  };
  linkw::Lane lane = Lane(1, 0);
  lane.want_logits = true;
  const linkw::TickResult result = Run({lane});
  EXPECT_EQ(
      Read(result.events.lanes[0].logits),
      (std::vector<uint32_t>{7, std::bit_cast<uint32_t>(0.5F), 8, std::bit_cast<uint32_t>(-1.0F)}));
}

TEST_F(TickRunTest, RefusesATickThatIsWrongAsAWhole) {
  ExpectRefused({}, linkw::Status::kInvalidArgument);
  ExpectRefused(std::vector<linkw::Lane>(257, Lane(1, 1)), linkw::Status::kInvalidArgument);
  ExpectRefused({Lane(1, 1), Lane(1, 1)}, linkw::Status::kInvalidArgument);
  ExpectRefused({Lane(2, 1), Lane(3, 1), Lane(1, 1), Lane(2, 1)}, linkw::Status::kInvalidArgument);
  linkw::Lane one = Lane(1, 1);
  linkw::Lane two = Lane(2, 1);
  one.sequence = two.sequence = linkw::SequenceId{4};
  ExpectRefused({one, two}, linkw::Status::kInvalidArgument);
  std::vector<linkw::Lane> many;
  for (uint64_t i = 0; i < 33; ++i) {
    many.push_back(Lane(i, 1));
    many.back().want_logits = true;
  }
  ExpectRefused(many, linkw::Status::kInvalidArgument);
}

TEST_F(TickRunTest, RefusesAStaleSpanAndNeverHalfReadsIt) {
  linkw::Lane good = Lane(1, 1);
  good.input = Write({1});
  linkw::Lane stale = Lane(2, 1);
  stale.input = Write({1, 2});
  next_slot_ = stale.input.slot;
  Write({3, 4});
  ExpectRefused({good, stale}, linkw::Status::kRejectBadRefGeneration);
}

TEST_F(TickRunTest, RefusesSpansThatCannotBe) {
  const linkw::TokenSpan good = Write({1, 2});
  for (const auto& change : std::initializer_list<void (*)(linkw::TokenSpan&)>{
           [](linkw::TokenSpan& span) { span.slot = 64; },
           [](linkw::TokenSpan& span) { span.count = 3; },
           [](linkw::TokenSpan& span) { span.count = 0xFFFFFFFF; },
           [](linkw::TokenSpan& span) { span.offset = 0xFFFFFFFF; },
           [](linkw::TokenSpan& span) { span.ring_id = linkw::kTokenOutRing; },
           [](linkw::TokenSpan& span) { span.generation = 1; }}) {
    linkw::Lane lane = Lane(1, 1);
    lane.input = good;
    change(lane.input);
    ExpectRefused({lane}, linkw::Status::kInvalidArgument);
  }
}

TEST_F(TickRunTest, ALanesOwnTroubleIsItsOwn) {
  linkw::Lane lane = Lane(1, 1025);
  ExpectLaneError(lane, linkw::Status::kInvalidArgument);
  lane = Lane(1, 1);
  lane.kind = LaneKind::kPrefill;
  ExpectLaneError(lane, linkw::Status::kInvalidArgument);
  lane = Lane(1, 1);
  lane.draft_tokens = {1};
  ExpectLaneError(lane, linkw::Status::kInvalidArgument);
  lane = Lane(1, 1);
  lane.stop_slot = 257;
  ExpectLaneError(lane, linkw::Status::kInvalidArgument);
  lane = Lane(1, 1);
  lane.stop_tokens = {1000};
  ExpectLaneError(lane, linkw::Status::kInvalidArgument);
  lane = Lane(1, 1);
  lane.input = Write({999, 1000});
  ExpectLaneError(lane, linkw::Status::kInvalidArgument);
  lane = Lane(1, 1);
  lane.sampling.top_p = 2;
  ExpectLaneError(lane, linkw::Status::kInvalidArgument);
}

TEST_F(TickRunTest, HandlesThatTheEngineDidNotGiveNeverReachIt) {
  linkw::Lane lane = Lane(1, 1);
  lane.sequence = linkw::SequenceId{0xDEADBEEF};
  ExpectLaneError(lane, linkw::Status::kUnknownHandle);
  lane = Lane(1, 1);
  lane.grammar_handle = linkw::GrammarHandle{5};
  ExpectLaneError(lane, linkw::Status::kUnknownHandle);
  lane = Lane(1, 1);
  lane.logit_bias_handle = linkw::LogitBiasHandle{5};
  ExpectLaneError(lane, linkw::Status::kUnknownHandle);
  lane = Lane(1, 1);
  lane.strategy_slot = linkw::StrategySlot{5};
  ExpectLaneError(lane, linkw::Status::kUnknownHandle);
}

// What an engine may do wrong ends its lane, or the tick, and nothing else.
TEST_F(TickRunTest, AnEngineThatLiesIsFoundOut) {
  const auto expect = [this](const std::function<void(std::vector<LaneResult>&)>& lie) {
    auto run = [lie](const Tick&, const CancelToken&, TickHost&) {
      std::vector<LaneResult> results(1);
      results[0].sequence = SequenceHandle{1};
      lie(results);
      return results;
    };
    engine_.fake().run_tick = run;
    link_.handles = {};
    const linkw::TickResult result = Run({Lane(1, 2)});
    const linkw::Status status =
        result.status == linkw::Status::kOk ? result.events.lanes.at(0).status : result.status;
    EXPECT_EQ(status, linkw::Status::kEngineFailed);
  };
  expect([](auto& results) { results[0].tokens = {1, 2, 3}; });
  expect([](auto& results) { results[0].tokens = {1000}; });
  expect([](auto& results) { results[0].sequence = {}; });
  expect([](auto& results) { results[0].logits.resize(33); });
  expect([](auto& results) { results.resize(2); });
  expect([](auto& results) { results.clear(); });
  expect([](auto& results) { results[0].status = absl::InternalError("broken"); });
}

TEST_F(TickRunTest, AStoppedTickSaysWhatWasDone) {
  engine_.fake().run_tick = [this](const Tick&, const CancelToken&, TickHost&) {
    token_.Cancel(CancelReason::kDeadline, 1);
    LaneResult result;
    result.sequence = SequenceHandle{1};
    result.tokens = {4};
    result.finish = FinishReason::kStopped;
    return std::vector<LaneResult>{result};
  };
  const linkw::TickResult result = Run({Lane(1, 9)});
  EXPECT_EQ(result.status, linkw::Status::kDeadlineExceeded);
  ASSERT_EQ(result.events.lanes.size(), 1);
  EXPECT_EQ(Read(result.events.lanes[0].out), (std::vector<uint32_t>{4}));
}

// The bit lies in the peer's memory: the engine's look at it counts, not a later one.
TEST_F(TickRunTest, AStopBitThatIsTakenBackEarlyStopsItsLaneOnly) {
  DaemonControl daemon = DaemonControl::Create().value();
  link_.control = std::make_shared<WorkerControl>(
      WorkerControl::Attach(daemon.DuplicateFd().value(), kControlBytes).value());
  ASSERT_TRUE(daemon.SetLaneStop(4, true).ok());
  engine_.fake().run_tick = [&daemon](const Tick&, const CancelToken&, TickHost& host) {
    std::vector<LaneResult> results(2);
    results[0].sequence = SequenceHandle{1};
    results[1].sequence = SequenceHandle{2};
    if (host.LaneStopped(0)) results[0].finish = FinishReason::kStopped;
    EXPECT_TRUE(daemon.SetLaneStop(4, false).ok());
    return results;
  };
  linkw::Lane stopped = Lane(1, 2);
  stopped.stop_slot = 5;
  const linkw::TickResult result = Run({stopped, Lane(2, 2)});
  EXPECT_EQ(result.status, linkw::Status::kOk) << result.message;
  ASSERT_EQ(result.events.lanes.size(), 2);
  EXPECT_EQ(result.events.lanes[0].finish_reason, linkw::FinishReason::kStopped);
  EXPECT_EQ(result.events.lanes[1].finish_reason, linkw::FinishReason::kNotFinished);
}

TEST_F(TickRunTest, LanesShareASlotAsLongAsTheirTokensFit) {
  engine_.fake().run_tick = [](const Tick& tick, const CancelToken&, TickHost&) {
    std::vector<LaneResult> results(tick.lanes.size());
    for (uint32_t i = 0; i < results.size(); ++i) {
      results[i].sequence = SequenceHandle{100 + i};
      results[i].tokens.assign(tick.lanes[i].max_tokens, i);
    }
    return results;
  };
  const linkw::TickResult result =
      Run({Lane(1, 1000), Lane(2, 24), Lane(3, 0), Lane(4, 1), Lane(5, 1024), Lane(6, 2)});
  ASSERT_EQ(result.status, linkw::Status::kOk) << result.message;
  const std::vector<linkw::LaneEvent>& events = result.events.lanes;
  const auto expect = [&events](size_t lane, uint32_t slot, uint32_t offset, uint32_t count) {
    SCOPED_TRACE(lane);
    EXPECT_EQ(events[lane].out.ring_id, linkw::kTokenOutRing);
    EXPECT_EQ(events[lane].out.slot, slot);
    EXPECT_EQ(events[lane].out.offset, offset);
    EXPECT_EQ(events[lane].out.count, count);
  };
  expect(0, 0, 0, 1000);
  expect(1, 0, 1000, 24);
  expect(2, 0, 0, 0);
  expect(3, 1, 0, 1);
  expect(4, 2, 0, 1024);
  expect(5, 3, 0, 2);
  for (uint32_t i = 0; i < events.size(); ++i) {
    if (i == 2) continue;  // nothing to read
    EXPECT_EQ(Read(events[i].out), std::vector<uint32_t>(events[i].out.count, i));
  }
}

TEST_F(TickRunTest, ALaneThatFailsBetweenOthersHasNoSpan) {
  linkw::Lane wrong = Lane(2, 1);
  wrong.stop_slot = 257;
  const linkw::TickResult result = Run({Lane(1, 2), wrong, Lane(3, 3)});
  EXPECT_EQ(result.events.lanes[1].out, linkw::TokenSpan{});
  EXPECT_EQ(Read(result.events.lanes[0].out), (std::vector<uint32_t>{1, 2}));
  EXPECT_EQ(Read(result.events.lanes[2].out), (std::vector<uint32_t>{1, 2, 3}));
  EXPECT_EQ(result.events.lanes[0].out.slot, result.events.lanes[2].out.slot);
}

// What the tick before had is not this one's: inputs, stop bits, tags in any order.
TEST_F(TickRunTest, TicksDoNotSeeEachOther) {
  linkw::Lane wrong = Lane(9, 1);
  wrong.stop_slot = 257;
  wrong.input = Write({1, 2, 3});
  Run({wrong, Lane(5, 1), Lane(7, 1)});
  link_.handles = {};
  std::vector<size_t> seen;
  auto run = engine_.fake().run_tick;
  engine_.fake().run_tick = [&](const Tick& tick, const CancelToken& token, TickHost& host) {
    for (const LaneWork& lane : tick.lanes) seen.push_back(lane.input.size());
    return run(tick, token, host);
  };
  linkw::Lane second = Lane(7, 1);
  second.input = Write({4});
  const linkw::TickResult result = Run({Lane(9, 1), second});
  ASSERT_EQ(result.status, linkw::Status::kOk) << result.message;
  ASSERT_EQ(result.events.lanes.size(), 2u);
  EXPECT_EQ(result.events.lanes[0].status, linkw::Status::kOk);
  EXPECT_EQ(seen, (std::vector<size_t>{0, 1}));
}

TEST_F(TickRunTest, OutSlotsGoRoundOverAllTicks) {
  linkw::TokenSpan first;
  for (uint64_t i = 0; i < 256; ++i) {
    link_.handles = {};
    const linkw::TickResult result = Run({Lane(i, 1)});
    EXPECT_EQ(result.events.lanes[0].out.slot, i);
    if (i == 0) first = result.events.lanes[0].out;
  }
  EXPECT_EQ(Read(first), (std::vector<uint32_t>{1})) << "readable until its slot comes round";
}

}  // namespace
}  // namespace superfluid
