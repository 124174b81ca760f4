// The sim engine's generation used directly and through its plug-in must do the same, call by call.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/cancel_token.h"
#include "engine/loader/loader.h"
#include "engine/sim/sim_engine.h"
#include "tests/engine/abi/engine_test_util.h"
#include "tests/engine/abi/fake_generation.h"
#include "tests/engine/abi/generation_fixture.h"

namespace superfluid {
namespace {

using testing::ConfigWith;
using testing::Describe;

std::string TextOf(uint64_t value) { return absl::StrCat(value); }
std::string TextOf(const std::vector<float>& values) { return absl::StrJoin(values, " "); }
std::string TextOf(const Lease& lease) {
  return absl::StrCat(static_cast<uint64_t>(lease.seed), " ", lease.ttl_ms, " ", lease.ttl_ticks);
}
std::string TextOf(const ExportSize& size) {
  return absl::StrCat(size.bytes, " ", size.sizing_gen);
}
std::string TextOf(const StrategyTerms& terms) { return Describe(terms); }
std::string TextOf(const Digest& digest) { return absl::StrJoin(digest, ","); }
std::string TextOf(const StageOutput& output) {
  return std::holds_alternative<Token>(output) ? absl::StrCat("token ", std::get<Token>(output))
                                               : std::get<std::string>(output);
}
std::string TextOf(const std::vector<SpaceMatch>& matches) {
  std::string text;
  for (const SpaceMatch& match : matches) {
    absl::StrAppend(&text, static_cast<uint32_t>(match.space), ":", match.matched_tokens, " ");
  }
  return text;
}
template <typename Enum>
requires std::is_enum_v<Enum> std::string TextOf(Enum handle) {
  return absl::StrCat(static_cast<uint64_t>(handle));
}
std::string TextOf(const std::vector<LaneResult>& results) {
  std::vector<std::string> lanes;
  lanes.reserve(results.size());
  for (const LaneResult& result : results) lanes.push_back(Describe(result));
  return absl::StrJoin(lanes, "\n");
}

// What a call came to, but for the message of an error: the plug-in's is longer by the call's name.
std::string Outcome(const absl::Status& status) { return absl::StatusCodeToString(status.code()); }
template <typename T>
std::string Outcome(const absl::StatusOr<T>& result) {
  return result.ok() ? TextOf(*result) : Outcome(result.status());
}

// Does random things, the same for the same seed, and writes down what came of each.
class Actor {
 public:
  Actor(Generation& generation, uint64_t seed) : generation_(generation), random_(seed) {}

  std::string Act() {
    switch (Below(12)) {
      case 0:
        return absl::StrCat("create ", Noted(generation_.CreateSequence()));
      case 1:
        return absl::StrCat("fork ", Noted(generation_.Fork(Sequence(), 0)));
      case 2:
        return absl::StrCat("trim ", Outcome(generation_.Trim(Sequence(), SpaceId{0}, Below(64))));
      case 3:
        return Move();
      case 4:
        return Cache();
      case 5:
        return absl::StrCat("lane ", Outcome(generation_.LaneSequence(LaneTag{Below(4)})));
      case 6:
        return Model();
      case 7:
        return Free();
      default:
        return Tick();
    }
  }

 private:
  uint64_t Below(uint64_t n) { return random_() % n; }
  std::vector<Token> Tokens(uint64_t at_most) {
    std::vector<Token> tokens(Below(at_most + 1));
    for (Token& token : tokens) token = static_cast<Token>(97 + Below(3));
    return tokens;
  }
  SequenceHandle Sequence() {
    return sequences_.empty() ? SequenceHandle{1} : sequences_[Below(sequences_.size())];
  }
  std::string Noted(const absl::StatusOr<SequenceHandle>& made) {
    if (made.ok()) sequences_.push_back(*made);
    return Outcome(made);
  }

  std::string Free() {
    if (sequences_.size() < 4) return "nothing";
    const size_t i = Below(sequences_.size());
    const SequenceHandle sequence = sequences_[i];
    sequences_.erase(sequences_.begin() + static_cast<std::ptrdiff_t>(i));
    return absl::StrCat("free ", Outcome(generation_.FreeSequence(sequence)));
  }

  // A state job to its end.
  static std::string Run(const absl::StatusOr<std::unique_ptr<StateJob>>& job) {
    if (!job.ok()) return Outcome(job.status());
    const CancelToken token;
    for (int steps = 1;; ++steps) {
      const auto outcome = (*job)->Step({}, token);
      if (!outcome.ok()) return absl::StrCat(steps, " ", Outcome(outcome.status()));
      if (*outcome == StateJobOutcome::kDone)
        return absl::StrCat(steps, " ", (*job)->bytes_moved());
    }
  }

  // An export of one space, and its import into a sequence.
  std::string Move() {
    const SequenceHandle from = Sequence();
    const SpaceId space{static_cast<uint32_t>(Below(2))};
    const auto boundary = generation_.SnapshotBoundary(from, space, Below(100));
    if (!boundary.ok()) return absl::StrCat("boundary ", Outcome(boundary));
    const TokenRange range = {0, *boundary};
    const auto encoding = static_cast<uint32_t>(Below(2));
    const auto size = generation_.SizeOfExport(from, space, range, encoding);
    const auto provenance = generation_.Provenance(from, space, range);
    std::string text =
        absl::StrCat("move ", *boundary, " ", Outcome(size), " ", Outcome(provenance));
    if (!size.ok() || !provenance.ok()) return text;
    std::vector<std::byte> bytes(size->bytes);
    const bool demote = Below(4) == 0;
    absl::StrAppend(&text, " out ",
                    Run(generation_.StartExport({from, space, range, encoding, demote},
                                                absl::MakeSpan(bytes))));
    for (const std::byte byte : bytes) absl::StrAppend(&text, ",", static_cast<int>(byte));
    const SequenceHandle into = demote ? from : Sequence();
    absl::StrAppend(
        &text, " in ",
        Run(generation_.StartImport({into, space, range, encoding, *provenance, !demote}, bytes)));
    return text;
  }

  std::string Cache() {
    const std::vector<Token> tokens = Tokens(48);
    switch (Below(6)) {
      case 0:
        return absl::StrCat("match ", Outcome(generation_.Match(tokens, {})));
      case 1:
        return absl::StrCat(
            "acquire ", Outcome(generation_.AcquireSeed(tokens, tokens.size() / 16 * 16, 0, {})));
      case 2:
        return absl::StrCat("publish ",
                            Outcome(generation_.PublishSequence(Sequence(), tokens, {})));
      case 3:
        return absl::StrCat("adopt ", Outcome(generation_.AdoptSequence(Sequence(), tokens, {})));
      case 4:
        return absl::StrCat("unpublish ", Outcome(generation_.Unpublish(tokens)));
      default:
        return absl::StrCat("evict ", Outcome(generation_.EvictCache(Below(5000), {1, 0, 0})));
    }
  }

  std::string Model() {
    const std::vector<Token> tokens = Tokens(8);
    switch (Below(5)) {
      case 0:
        return absl::StrCat("embed ", Outcome(generation_.Embed(tokens, {})));
      case 1:
        return absl::StrCat("stage ",
                            Outcome(generation_.ForwardStage({tokens, 0, 4, false, ""}, {})));
      case 2: {
        StrategySpec spec;
        spec.strategy_id = "sim.oracle";
        spec.rng_contract_version = 1;
        return absl::StrCat("register ", Outcome(generation_.RegisterStrategy(spec)));
      }
      case 3: {
        const std::vector<float> values(tokens.size(), 2);
        const auto bias = generation_.CreateLogitBias(tokens, values);
        if (bias.ok()) bias_ = *bias;
        return absl::StrCat("bias ", Outcome(bias));
      }
      default: {
        const auto grammar = generation_.CreateGrammar("{\"type\": \"integer\"}", {});
        if (grammar.ok()) grammar_ = *grammar;
        return absl::StrCat("grammar ", Outcome(grammar));
      }
    }
  }

  LaneWork Lane(uint64_t tag, std::vector<Token>& input, std::vector<Token>& drafts) {
    LaneWork lane;
    lane.tag = LaneTag{tag};
    if (Below(2) == 0 && tag < sequences_.size()) lane.sequence = sequences_[tag];
    lane.kind = static_cast<LaneKind>(1 + Below(3));
    input = Tokens(40);
    lane.input = input;
    if (lane.kind != LaneKind::kPrefill) lane.max_tokens = static_cast<uint32_t>(1 + Below(8));
    if (lane.kind == LaneKind::kVerify) lane.drafts = drafts = Tokens(4);
    if (Below(2) == 0) lane.sampling = {1, 20, 0.9F, 0, 1.1F, random_()};
    if (lane.kind != LaneKind::kPrefill && Below(4) == 0) lane.grammar = grammar_;
    if (Below(4) == 0) lane.logit_bias = bias_;
    if (lane.kind == LaneKind::kDecode && Below(4) == 0) lane.strategy = StrategySlot{1};
    lane.want_logits = Below(3) == 0;
    return lane;
  }

  std::string Tick() {
    std::vector<std::vector<Token>> inputs(3);
    std::vector<std::vector<Token>> drafts(3);
    std::vector<LaneWork> lanes;
    for (uint64_t i = 0; i < 1 + Below(3); ++i) lanes.push_back(Lane(i, inputs[i], drafts[i]));
    testing::RecordingHost host;
    const CancelToken token;
    const auto results = generation_.RunTick({++ticks_, Below(2) == 0, lanes}, token, host);
    std::string text = absl::StrCat("tick ", Outcome(results));
    for (const auto& [lane, tokens] : host.emits) {
      absl::StrAppend(&text, " emit ", lane, ":", absl::StrJoin(tokens, ","));
    }
    if (!results.ok()) return text;
    for (size_t i = 0; i < lanes.size(); ++i) {
      const bool made = lanes[i].sequence == SequenceHandle{} && (*results)[i].status.ok();
      if (made) sequences_.push_back((*results)[i].sequence);
    }
    return text;
  }

  Generation& generation_;
  std::mt19937_64 random_;
  std::vector<SequenceHandle> sequences_;
  GrammarHandle grammar_{};
  LogitBiasHandle bias_{};
  uint64_t ticks_ = 0;
};

class GenerationRoundTripTest : public ::testing::Test {
 protected:
  void Make(const EngineConfig& config) {
    auto direct = MakeSimEngine(config);
    auto loaded = LoadEngine("engine/sim/libsuperfluid_sim.so", config);
    ASSERT_TRUE(direct.ok()) << direct.status();
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    direct_ = *std::move(direct);
    loaded_ = *std::move(loaded);
    ASSERT_NE(direct_->generation(), nullptr);
    ASSERT_NE(loaded_->generation(), nullptr);
  }
  void SetUp() override { Make({}); }

  std::unique_ptr<Engine> direct_;
  std::unique_ptr<Engine> loaded_;
};

TEST_F(GenerationRoundTripTest, SameDescription) {
  EXPECT_EQ(loaded_->info().vocab_size, direct_->info().vocab_size);
  EXPECT_EQ(loaded_->info().max_lanes, direct_->info().max_lanes);
  const auto spaces = direct_->generation()->StateSpaces();
  ASSERT_EQ(loaded_->generation()->StateSpaces().size(), spaces.size());
  for (size_t i = 0; i < spaces.size(); ++i) {
    EXPECT_EQ(Describe(loaded_->generation()->StateSpaces()[i]), Describe(spaces[i]));
  }
  const auto strategies = direct_->generation()->Strategies();
  ASSERT_EQ(loaded_->generation()->Strategies().size(), strategies.size());
  for (size_t i = 0; i < strategies.size(); ++i) {
    EXPECT_EQ(loaded_->generation()->Strategies()[i].strategy_id, strategies[i].strategy_id);
  }
}

TEST_F(GenerationRoundTripTest, SameAnswersToRandomCalls) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    Make({});
    Actor direct(*direct_->generation(), seed);
    Actor loaded(*loaded_->generation(), seed);
    for (int i = 0; i < 300; ++i) {
      const std::string expected = direct.Act();
      ASSERT_EQ(loaded.Act(), expected) << "seed " << seed << ", call " << i;
    }
    direct_->generation()->EndSession();
    loaded_->generation()->EndSession();
    EXPECT_EQ(loaded_->Memory().pool_blocks_used, direct_->Memory().pool_blocks_used);
  }
}

// Directly a wrong result reaches the caller; through the plug-in it must not.
TEST_F(GenerationRoundTripTest, WrongResultsAreInternal) {
  for (const char* wrong : {"too_many_tokens", "bad_token", "zero_handle", "wrong_sequence",
                            "too_many_logits", "lane_count"}) {
    Make(ConfigWith({{"wrong_at_tick", "1"}, {"wrong_result", wrong}}));
    const std::vector<Token> input = {97};
    std::vector<LaneWork> lanes(1);
    lanes[0].sequence = *loaded_->generation()->CreateSequence();
    lanes[0].input = input;
    lanes[0].max_tokens = 2;
    lanes[0].want_logits = true;
    testing::RecordingHost host;
    const CancelToken token;
    EXPECT_EQ(loaded_->generation()->RunTick({1, false, lanes}, token, host).status().code(),
              absl::StatusCode::kInternal)
        << wrong;
  }
}

}  // namespace
}  // namespace superfluid
