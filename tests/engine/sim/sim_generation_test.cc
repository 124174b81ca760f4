#include "engine/sim/sim_generation.h"

#include <vector>

#include "tests/engine/sim/sim_generation_fixture.h"

namespace superfluid {
namespace {

using testing::HasCode;
using testing::kInvalid;
using testing::kNotFound;
using testing::kPrecondition;
using testing::kUnimplemented;

constexpr EvictPolicy kAll{UINT32_MAX, 0, 0};

class SimGenerationCallsTest : public testing::SimGenerationTest {
 protected:
  // A published prefix of `count` tokens whose sequence is gone.
  void Publish(const std::vector<Token>& tokens) {
    const SequenceHandle sequence = Prefill(tokens);
    ASSERT_TRUE(generation_->PublishSequence(sequence, tokens, {}).ok());
    ASSERT_TRUE(generation_->FreeSequence(sequence).ok());
  }
  uint64_t Matched(const std::vector<Token>& tokens, const std::vector<uint64_t>& deps = {}) {
    const auto match = generation_->Match(tokens, deps);
    EXPECT_TRUE(match.ok());
    EXPECT_EQ(match->size(), 2U);
    return match->front().matched_tokens;
  }
};

TEST_F(SimGenerationCallsTest, ForkTakesNoFlags) {
  const SequenceHandle sequence = Prefill(Tokens(3));
  EXPECT_THAT(generation_->Fork(sequence, 1), HasCode(kInvalid));
  EXPECT_THAT(generation_->Fork(SequenceHandle{99}, 0), HasCode(kNotFound));
  EXPECT_TRUE(generation_->Fork(sequence, 0).ok());
}

TEST_F(SimGenerationCallsTest, TrimChecksSpaceAndLength) {
  const SequenceHandle sequence = Prefill(Tokens(20));
  EXPECT_THAT(generation_->Trim(sequence, SpaceId{5}, 0), HasCode(kInvalid));
  EXPECT_THAT(generation_->Trim(SequenceHandle{99}, SpaceId{0}, 0), HasCode(kNotFound));
  EXPECT_THAT(generation_->Trim(sequence, SpaceId{0}, 21), HasCode(kInvalid));
  EXPECT_THAT(generation_->Trim(sequence, SpaceId{1}, 3), HasCode(kInvalid));
  EXPECT_TRUE(generation_->Trim(sequence, SpaceId{0}, 16).ok());
  EXPECT_THAT(Decode(sequence, 1), HasCode(kPrecondition));
  EXPECT_TRUE(generation_->Trim(sequence, SpaceId{1}, 16).ok());
  EXPECT_TRUE(Decode(sequence, 1).ok());
}

TEST_F(SimGenerationCallsTest, PublishesWholeBlocks) {
  const std::vector<Token> tokens = Tokens(40);
  const SequenceHandle sequence = Prefill(tokens);
  EXPECT_THAT(generation_->PublishSequence(SequenceHandle{99}, tokens, {}), HasCode(kNotFound));
  EXPECT_THAT(generation_->PublishSequence(sequence, Tokens(15), {}), HasCode(kInvalid));
  EXPECT_THAT(generation_->PublishSequence(sequence, Tokens(41), {}), HasCode(kInvalid));
  EXPECT_THAT(generation_->PublishSequence(sequence, Tokens(40, 2), {}), HasCode(kInvalid));
  EXPECT_TRUE(generation_->PublishSequence(sequence, tokens, {}).ok());
  EXPECT_EQ(Matched(tokens), 32U);
  EXPECT_EQ(Matched(tokens, {7}), 0U);
  EXPECT_EQ(generation_->Memory().pool_blocks_used, 3U);  // shared with the sequence
  EXPECT_TRUE(generation_->Unpublish(tokens).ok());
  EXPECT_THAT(generation_->Unpublish(tokens), HasCode(kNotFound));
  EXPECT_THAT(generation_->Unpublish(Tokens(3)), HasCode(kNotFound));
  EXPECT_EQ(Matched(tokens), 16U);
}

TEST_F(SimGenerationCallsTest, SeedsPinUntilTheyEnd) {
  const std::vector<Token> tokens = Tokens(48);
  Publish(tokens);
  EXPECT_THAT(generation_->AcquireSeed(tokens, 0, 0, {}), HasCode(kInvalid));
  EXPECT_THAT(generation_->AcquireSeed(tokens, 49, 0, {}), HasCode(kInvalid));
  EXPECT_THAT(generation_->AcquireSeed(tokens, 40, 0, {}), HasCode(kNotFound));
  EXPECT_THAT(generation_->AcquireSeed(tokens, 32, 2, {}), HasCode(kNotFound));
  EXPECT_THAT(generation_->AcquireSeed(tokens, 32, 0, {5}), HasCode(kNotFound));
  EXPECT_THAT(generation_->AcquireSeed(Tokens(48, 2), 32, 0, {}), HasCode(kNotFound));
  const auto lease = generation_->AcquireSeed(tokens, 32, 1, {});
  ASSERT_TRUE(lease.ok());
  EXPECT_EQ(lease->ttl_ms, 1000U);
  EXPECT_EQ(lease->ttl_ticks, 64U);
  EXPECT_EQ(generation_->Memory().pool_bytes_evictable, kSimBlockBytes);
  EXPECT_EQ(*generation_->EvictCache(UINT64_MAX, kAll), kSimBlockBytes);
  EXPECT_EQ(Matched(tokens), 32U);
  EXPECT_TRUE(generation_->ReleaseSeed(lease->seed).ok());
  EXPECT_THAT(generation_->ReleaseSeed(lease->seed), HasCode(kNotFound));
  EXPECT_EQ(*generation_->EvictCache(UINT64_MAX, kAll), 2 * kSimBlockBytes);
}

TEST_F(SimGenerationCallsTest, SeedsEndByTime) {
  Make({{"ttl_ms", "50"}});
  Publish(Tokens(16));
  const auto lease = generation_->AcquireSeed(Tokens(16), 16, 0, {});
  ASSERT_TRUE(lease.ok());
  clock_->now += absl::Milliseconds(49);
  EXPECT_EQ(generation_->Memory().pool_bytes_evictable, 0U);
  clock_->now += absl::Milliseconds(1);
  EXPECT_EQ(generation_->Memory().pool_bytes_evictable, kSimBlockBytes);
  EXPECT_THAT(generation_->ReleaseSeed(lease->seed), HasCode(kNotFound));
}

TEST_F(SimGenerationCallsTest, SeedsEndByTicks) {
  Make({{"ttl_ticks", "2"}});
  Publish(Tokens(16));
  const auto lease = generation_->AcquireSeed(Tokens(16), 16, 0, {});
  ASSERT_TRUE(lease.ok());
  Prefill(Tokens(1, 5));
  EXPECT_EQ(generation_->Memory().pool_bytes_evictable, 0U);
  Prefill(Tokens(1, 6));
  EXPECT_EQ(generation_->Memory().pool_bytes_evictable, kSimBlockBytes);
}

TEST_F(SimGenerationCallsTest, AdoptionIsOfTheExactPrefix) {
  const std::vector<Token> tokens = Tokens(48);
  const SequenceHandle source = Prefill(tokens);
  EXPECT_THAT(generation_->AdoptSequence(source, Tokens(3), {}), HasCode(kInvalid));
  const auto seed = generation_->AdoptSequence(source, tokens, {});
  ASSERT_TRUE(seed.ok());
  Prefill(Tokens(40));  // too short to take the lease over
  Prefill(Tokens(48, 3));
  EXPECT_EQ(generation_->Memory().pool_bytes_evictable, 0U);
  const uint64_t used = generation_->Memory().pool_blocks_used;
  Prefill(Tokens(50));
  EXPECT_EQ(generation_->Memory().pool_blocks_used, used + 1);  // three blocks came from the cache
  EXPECT_THAT(generation_->ReleaseSeed(*seed), HasCode(kNotFound));
}

TEST_F(SimGenerationCallsTest, LeasedEntriesOutliveUnpublish) {
  const std::vector<Token> tokens = Tokens(32);
  Publish(tokens);
  const auto lease = generation_->AcquireSeed(tokens, 32, 0, {});
  ASSERT_TRUE(lease.ok());
  EXPECT_TRUE(generation_->Unpublish(Tokens(16)).ok());
  EXPECT_EQ(Matched(tokens), 0U);
  EXPECT_EQ(generation_->Memory().pool_blocks_used, 2U);
  EXPECT_TRUE(generation_->ReleaseSeed(lease->seed).ok());
  EXPECT_EQ(generation_->Memory().pool_blocks_used, 0U);
}

TEST_F(SimGenerationCallsTest, MediaArePartOfTheCachesKey) {
  const auto media = generation_->EncodeMedia(WriteFile("picture", std::string(128, 'p')), {});
  ASSERT_TRUE(media.ok());
  const auto prefill = [&](bool with) {
    if (with) {
      EXPECT_TRUE(generation_->BindMedia(LaneTag{7}, media->handle, 4).ok());
    }
    const std::vector<Token> tokens = Tokens(32);
    LaneWork work = driver_->LaneFor({}, {}, tokens, 0);
    work.tag = LaneTag{7};
    return driver_->RunLane(work)->sequence;
  };
  const SequenceHandle source = prefill(true);
  ASSERT_TRUE(generation_->PublishSequence(source, Tokens(32), {}).ok());
  EXPECT_EQ(Matched(Tokens(32)), 0U);
  EXPECT_EQ(Matched(Tokens(32), {media->info.preprocess_fp}), 32U);
  const auto with = Decode(source, 6);
  EXPECT_EQ(*Decode(prefill(true), 6), *with);
  EXPECT_NE(*Decode(prefill(false), 6), *with);
}

TEST_F(SimGenerationCallsTest, EvictsEntriesByKey) {
  const std::vector<Token> tokens = Tokens(32);
  const SequenceHandle sequence = Prefill(tokens);
  ASSERT_TRUE(generation_->PublishSequence(sequence, tokens, {}).ok());
  const SpaceId kv{0};
  CacheKey key;
  key.provenance = *generation_->Provenance(sequence, kv, {0, 16});
  EXPECT_TRUE(generation_->EvictEntries({key}).ok());
  EXPECT_EQ(Matched(tokens), 32U);  // another compat_key
  key.compat_key = generation_->StateSpaces()[0].compat_key;
  EXPECT_TRUE(generation_->EvictEntries({CacheKey{}, key}).ok());
  EXPECT_EQ(Matched(tokens), 0U);
}

TEST_F(SimGenerationCallsTest, ProvenanceFollowsTokensAndAdapter) {
  const auto digest = [&](SequenceHandle sequence, uint64_t end) {
    return *generation_->Provenance(sequence, SpaceId{0}, {0, end});
  };
  const SequenceHandle first = Prefill(Tokens(20));
  const SequenceHandle second = Prefill(Tokens(30));
  EXPECT_EQ(digest(first, 20), digest(second, 20));
  EXPECT_NE(digest(first, 20), digest(first, 19));
  ASSERT_TRUE(generation_->LoadAdapter(WriteFile("lora", "p"), {}).ok());
  EXPECT_NE(digest(Prefill(Tokens(20)), 20), digest(first, 20));
}

TEST_F(SimGenerationCallsTest, AdaptersAreReplaced) {
  EXPECT_EQ(*generation_->CurrentAdapter(), AdapterId{});
  const auto first = generation_->LoadAdapter(WriteFile("lora", "a"), {});
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(*generation_->CurrentAdapter(), *first);
  EXPECT_THAT(generation_->LoadAdapter("/nowhere", {}), HasCode(kNotFound));
  EXPECT_NE(*generation_->LoadAdapter(WriteFile("lora", "a"), {}), *first);
  EXPECT_TRUE(generation_->UnloadAdapter().ok());
  EXPECT_EQ(*generation_->CurrentAdapter(), AdapterId{});
}

TEST_F(SimGenerationCallsTest, SteeringAndMediaHandlesAreChecked) {
  EXPECT_THAT(generation_->CreateGrammar("{", {}), HasCode(kInvalid));
  EXPECT_THAT(generation_->CreateGrammar(R"({"not":{}})", {}), HasCode(kUnimplemented));
  EXPECT_THAT(generation_->CreateStructuralGrammar("{}", {}), HasCode(kInvalid));
  EXPECT_THAT(generation_->FreeGrammar(GrammarHandle{9}), HasCode(kNotFound));
  EXPECT_THAT(generation_->CreateLogitBias({1}, {}), HasCode(kInvalid));
  EXPECT_THAT(generation_->FreeLogitBias(LogitBiasHandle{9}), HasCode(kNotFound));
  EXPECT_THAT(generation_->ProbeMedia("/nowhere", {}), HasCode(kNotFound));
  EXPECT_THAT(generation_->EncodeMedia("/nowhere", {}), HasCode(kNotFound));
  EXPECT_THAT(generation_->ReleaseMedia(MediaHandle{9}), HasCode(kNotFound));
  EXPECT_THAT(generation_->BindMedia(LaneTag{1}, MediaHandle{9}, 0), HasCode(kNotFound));
  EXPECT_THAT(generation_->LaneSequence(LaneTag{1}), HasCode(kNotFound));
}

TEST_F(SimGenerationCallsTest, EndSessionKeepsCacheAndAdapter) {
  const auto adapter = generation_->LoadAdapter(WriteFile("lora", "stays"), {});
  ASSERT_TRUE(adapter.ok());
  const SequenceHandle sequence = Prefill(Tokens(20));
  const auto seed = generation_->AdoptSequence(sequence, Tokens(20), {});
  const auto grammar = generation_->CreateGrammar(R"({"type":"null"})", {});
  const auto bias = generation_->CreateLogitBias({1}, {1});
  const auto media = generation_->EncodeMedia(WriteFile("media", "m"), {});
  StrategySpec spec;
  spec.rng_contract_version = 1;
  spec.strategy_id = "sim.ngram";
  const auto strategy = generation_->RegisterStrategy(spec);
  ASSERT_TRUE(seed.ok() && grammar.ok() && bias.ok() && media.ok() && strategy.ok());
  generation_->EndSession();
  EXPECT_THAT(generation_->FreeSequence(sequence), HasCode(kNotFound));
  EXPECT_THAT(generation_->ReleaseSeed(*seed), HasCode(kNotFound));
  EXPECT_THAT(generation_->FreeGrammar(*grammar), HasCode(kNotFound));
  EXPECT_THAT(generation_->FreeLogitBias(*bias), HasCode(kNotFound));
  EXPECT_THAT(generation_->ReleaseMedia(media->handle), HasCode(kNotFound));
  EXPECT_EQ(*generation_->CurrentAdapter(), *adapter);
  EXPECT_EQ(Matched(Tokens(20)), 16U);
  engine_->Reset();
  EXPECT_EQ(*generation_->CurrentAdapter(), AdapterId{});
  EXPECT_EQ(Matched(Tokens(20)), 0U);
  EXPECT_EQ(engine_->Memory().allocated_bytes, 0U);
}

TEST_F(SimGenerationCallsTest, MemoryAddsUp) {
  Make({{"pool_blocks", "100"}});
  const std::vector<Token> tokens = Tokens(40);
  const SequenceHandle sequence = Prefill(tokens);
  ASSERT_TRUE(generation_->PublishSequence(sequence, tokens, {}).ok());
  ASSERT_TRUE(generation_->Fork(sequence, 0).ok());
  MemoryCounters memory = engine_->Memory();
  EXPECT_EQ(memory.pool_blocks_total, 100U);
  EXPECT_EQ(memory.pool_blocks_used, 3U);
  EXPECT_EQ(memory.pool_bytes_evictable, 0U);
  EXPECT_EQ(memory.allocated_bytes, 3 * kSimBlockBytes);
  generation_->EndSession();
  memory = engine_->Memory();
  EXPECT_EQ(memory.pool_blocks_used, 2U);
  EXPECT_EQ(memory.pool_bytes_evictable, 2 * kSimBlockBytes);
}

}  // namespace
}  // namespace superfluid
