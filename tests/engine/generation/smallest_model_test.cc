// The least that a model has to offer, and what a session makes of it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/generation/session_generation.h"
#include "tests/engine/properties/generation_driver.h"

namespace superfluid {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using testing::GenerationDriver;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::QuietHost;
using testing::Script;
using ::testing::SizeIs;

constexpr Token kVocab = 64;
constexpr Token kEnd = kVocab - 1;
constexpr uint64_t kContext = 128;

// State that is no more than how much of it is computed; `room` is how many tokens there is space
// for, of all sequences.
class CountedSequence final : public SessionSequence {
 public:
  CountedSequence(uint64_t& room, AdapterRef adapter) : SessionSequence(adapter), room_(room) {}
  ~CountedSequence() override { room_ += computed_; }

  uint64_t computed() const override { return computed_; }
  absl::StatusOr<std::unique_ptr<SessionSequence>> Fork() const override {
    auto child = std::make_unique<CountedSequence>(room_, adapter());
    child->CopyHistory(*this);
    child->Compute(computed_);
    return child;
  }
  absl::Status Append(absl::Span<const Token> tokens, bool drawn) override {
    AppendHistory(tokens, drawn);
    return absl::OkStatus();
  }
  absl::Status UseCached(absl::Span<const CachedBlockRef> blocks,
                         absl::Span<const Token> tokens) override {
    const uint64_t count = blocks.size() * kCacheBlockTokens;
    AppendHistory(tokens.first(count), /*drawn=*/false);
    Compute(count);
    return absl::OkStatus();
  }
  void RollBack() override {
    CutHistory(mark());
    Uncompute(mark());
  }
  void Uncompute(uint64_t end) override {
    if (end >= computed_) return;
    room_ += computed_ - end;
    computed_ = end;
  }
  absl::StatusOr<uint64_t> Boundary(SpaceId /*space*/, uint64_t cap) const override {
    return std::min(cap, length());
  }
  absl::Status CheckExport(SpaceId space, TokenRange range) const override {
    return CheckRange(space, range);
  }
  void Compute(uint64_t count) {
    computed_ += count;
    room_ -= count;
  }

 protected:
  absl::Status CutSpace(SpaceId /*space*/, uint64_t new_len) override {
    CutHistory(new_len);
    Uncompute(new_len);
    return absl::OkStatus();
  }

 private:
  uint64_t& room_;
  uint64_t computed_ = 0;
};

class CountedBlock final : public CachedBlock {
 public:
  bool InUse() const override { return false; }
};

// Draws the successor of the last token.
class CountingModel final : public TokenModel {
 public:
  explicit CountingModel(uint64_t room) : room_(room) {
    facts_.offer = {.engine = "counting",
                    .architecture = "counting",
                    .context_tokens = kContext,
                    .vocab_size = kVocab};
    facts_.leases = {1000, 10, 10};
    facts_.block_bytes = 1;
  }

  const Facts& facts() const override { return facts_; }
  TokenTexts Texts() const override {
    TokenTexts texts;
    texts.texts.assign(kVocab, "x");
    texts.ends = {kEnd};
    return texts;
  }
  bool EndsText(Token token) const override { return token == kEnd; }
  std::unique_ptr<SessionSequence> NewSequence(AdapterRef adapter) override {
    return std::make_unique<CountedSequence>(room_, adapter);
  }
  size_t max_tokens() const override { return 8; }
  absl::Status Decode(absl::Span<PassShare> shares, const CallControl& /*control*/) override {
    uint64_t needed = 0;
    for (const PassShare& share : shares) needed += share.tokens.size();
    if (needed > room_) return absl::ResourceExhaustedError("no room");
    for (PassShare& share : shares) {
      Of(*share.sequence).Compute(share.tokens.size());
      share.done = share.tokens.size();
      share.complete = true;
    }
    passes.push_back(shares.size());
    return absl::OkStatus();
  }
  absl::Span<float> Logits(const PassShare& share, size_t i) override {
    const Token last = share.tokens[share.tokens.size() - share.outputs + i];
    logits_.assign(kVocab, 0);
    logits_[(last + 1) % kVocab] = 1;
    return absl::MakeSpan(logits_);
  }
  absl::StatusOr<bool> Compute(SessionSequence& sequence, uint64_t end,
                               const CallControl& control) override {
    if (absl::Status status = control.GoOn(); !status.ok()) return status;
    if (sequence.computed() < end) Of(sequence).Compute(1);
    return sequence.computed() >= end;
  }
  std::vector<StateSpace> Spaces() const override { return {StateSpace{}}; }
  absl::StatusOr<std::vector<CachedBlockRef>> CacheBlocks(SessionSequence& /*sequence*/,
                                                          uint64_t end,
                                                          const KnownBlocks& known) override {
    std::vector<CachedBlockRef> blocks(end / kCacheBlockTokens);
    for (size_t i = known().size(); i < blocks.size(); ++i) {
      blocks[i] = std::make_shared<CountedBlock>();
    }
    return blocks;
  }
  void UseCache(PrefixCache& /*cache*/) override {}

  std::vector<size_t> passes;  // lanes of each

 private:
  static CountedSequence& Of(SessionSequence& sequence) {
    return static_cast<CountedSequence&>(sequence);
  }

  uint64_t room_;
  Facts facts_;
  std::vector<float> logits_;
};

class SmallestModelTest : public ::testing::Test {
 protected:
  void SetUp() override { Make(1000); }
  void Make(uint64_t room) {
    auto model = std::make_unique<CountingModel>(room);
    model_ = model.get();
    generation_ = std::make_unique<SessionGeneration>(std::move(model));
    driver_ = std::make_unique<GenerationDriver>(*generation_);
  }
  static Script ScriptOf(Token first, size_t length, uint32_t draws) {
    Script script;
    for (size_t i = 0; i < length; ++i) {
      script.prompt.push_back(static_cast<Token>((first + i) % kVocab));
    }
    script.draws = draws;
    return script;
  }
  std::vector<LaneResult> RunTick(const std::vector<LaneWork>& lanes, const CancelToken& token) {
    QuietHost host;
    Tick tick;
    tick.lanes = lanes;
    auto results = generation_->RunTick(tick, token, host);
    EXPECT_TRUE(results.ok()) << results.status();
    return results.ok() ? *std::move(results) : std::vector<LaneResult>(lanes.size());
  }

  CountingModel* model_ = nullptr;
  std::unique_ptr<SessionGeneration> generation_;
  std::unique_ptr<GenerationDriver> driver_;
};

TEST_F(SmallestModelTest, Draws) {
  const auto result = driver_->Plain(ScriptOf(3, 10, 4));
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_THAT(result->tokens, ElementsAre(13, 14, 15, 16));
  // Ten tokens are two passes of eight at most; a drawn one is computed with the next draw.
  EXPECT_THAT(model_->passes, SizeIs(5));
  const auto child = generation_->Fork(result->sequence, 0);
  ASSERT_TRUE(child.ok());
  const auto more = driver_->RunLane(driver_->LaneFor({}, *child, {}, 2));
  EXPECT_THAT(more->tokens, ElementsAre(17, 18));
  EXPECT_TRUE(generation_->CheckInvariants());
}

TEST_F(SmallestModelTest, RightDraftsAreComputedInOnePass) {
  const Script script = ScriptOf(3, 2, 5);
  LaneWork verify = driver_->LaneFor(script, {}, script.prompt, 5);
  verify.kind = LaneKind::kVerify;
  const std::vector<Token> drafts = {5, 6, 7, 9};
  verify.drafts = drafts;
  const auto results = RunTick({verify}, {});
  EXPECT_THAT(results[0].tokens, ElementsAre(5, 6, 7, 8));
  EXPECT_EQ(results[0].accepted_drafts, 3U);
  EXPECT_THAT(model_->passes, SizeIs(1));
  EXPECT_THAT(driver_->RunLane(driver_->LaneFor({}, results[0].sequence, {}, 1))->tokens,
              ElementsAre(9));
}

TEST_F(SmallestModelTest, CachesPrefixes) {
  const auto source = driver_->Plain(ScriptOf(0, 40, 0));
  ASSERT_TRUE(source.ok());
  const std::vector<Token> tokens = ScriptOf(0, 40, 0).prompt;
  ASSERT_TRUE(generation_->PublishSequence(source->sequence, tokens, {}).ok());
  EXPECT_EQ((*generation_->Match(tokens, {}))[0].matched_tokens, 32U);
  model_->passes.clear();
  EXPECT_THAT(driver_->Plain(ScriptOf(0, 40, 1))->tokens, ElementsAre(40));
  EXPECT_THAT(model_->passes, SizeIs(1));  // eight tokens were left
}

TEST_F(SmallestModelTest, WithoutRoomTheLastLaneFails) {
  Make(6);
  const Script script = ScriptOf(0, 4, 1);
  std::vector<LaneWork> lanes;
  for (int i = 0; i < 2; ++i) lanes.push_back(driver_->LaneFor(script, {}, script.prompt, 1));
  const auto results = RunTick(lanes, {});
  EXPECT_THAT(results[0].tokens, ElementsAre(4));
  EXPECT_TRUE(absl::IsResourceExhausted(results[1].status)) << results[1].status;
  EXPECT_EQ(results[1].sequence, SequenceHandle{});
}

// Appending computes nothing, so a lane has its input in spite of the cancel.
TEST_F(SmallestModelTest, ALazyModelsLaneHasItsInput) {
  CancelToken token;
  token.Cancel(CancelReason::kRequested, 1);
  const Script script = ScriptOf(0, 4, 2);
  const auto results = RunTick({driver_->LaneFor(script, {}, script.prompt, 2)}, token);
  EXPECT_EQ(results[0].finish, FinishReason::kStopped);
  EXPECT_EQ(results[0].position, 4U);
  EXPECT_THAT(model_->passes, IsEmpty());
}

TEST_F(SmallestModelTest, SaysWhatItLacks) {
  const auto unimplemented = [](const absl::Status& status) {
    return status.code() == absl::StatusCode::kUnimplemented;
  };
  const SequenceHandle sequence = *generation_->CreateSequence();
  const std::vector<bool> lacks = {
      unimplemented(generation_->Embed({1}, {}).status()),
      unimplemented(generation_->ForwardStage({}, {}).status()),
      unimplemented(generation_->LoadAdapter("any", {}).status()),
      unimplemented(generation_->ProbeMedia("any", {}).status()),
      unimplemented(generation_->BindMedia({}, MediaHandle{1}, 0)),
      unimplemented(generation_->RegisterStrategy({.strategy_id = "any"}).status()),
      unimplemented(generation_->SnapshotBoundary(sequence, {}, 0).status()),
      unimplemented(generation_->StartExport({.sequence = sequence}, {}).status())};
  EXPECT_THAT(lacks, Each(true));
  EXPECT_THAT(generation_->StateSpaces(), IsEmpty());
  EXPECT_THAT(generation_->Strategies(), IsEmpty());
  for (const char* call :
       {"embed", "forward_stage", "lora_load", "media_encode", "state_ops", "strategy"}) {
    EXPECT_THAT(generation_->Calls(), Not(Contains(call)));
  }
  EXPECT_THAT(generation_->Calls(), Contains("tick"));
}

}  // namespace
}  // namespace superfluid
