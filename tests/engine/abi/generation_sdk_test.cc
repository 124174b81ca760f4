// A C++ Generation behind the C interface, both sides in one process: every argument and answer of
// every call arrives unchanged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "tests/engine/abi/generation_fixture.h"

namespace superfluid {
namespace {

using testing::Describe;
using testing::DigestOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class GenerationSdkTest : public testing::GenerationFixture {};

TEST_F(GenerationSdkTest, AnEngineWithoutGenerationHasNone) {
  ASSERT_TRUE(Make(/*generates=*/false).ok());
  EXPECT_EQ(engine_->generation(), nullptr);
  EXPECT_EQ(engine_->info().vocab_size, 0U);
}

TEST_F(GenerationSdkTest, TheVocabularyArrives) {
  EXPECT_EQ(engine_->info().vocab_size, 1000U);
  EXPECT_EQ(engine_->info().max_lanes, 4);
}

TEST_F(GenerationSdkTest, StateSpacesAndStrategiesArrive) {
  EXPECT_THAT(generation().StateSpaces(), IsEmpty());
  script_.spaces = {{SpaceId{0}, "kv", 4096, 16, 3, DigestOf(1, 2)},
                    {SpaceId{7}, "recurrent", 0, 1, 1, DigestOf(3, 4)}};
  script_.strategies = {{StrategySlot{1}, "ngram", "1.0"}, {StrategySlot{2}, "draft", ""}};
  ASSERT_TRUE(Make().ok());
  const std::vector<StateSpace> spaces = generation().StateSpaces();
  ASSERT_EQ(spaces.size(), 2U);
  EXPECT_EQ(Describe(spaces[0]), Describe(script_.spaces[0]));
  EXPECT_EQ(Describe(spaces[1]), Describe(script_.spaces[1]));
  const std::vector<BuiltInStrategy> strategies = generation().Strategies();
  ASSERT_EQ(strategies.size(), 2U);
  EXPECT_EQ(strategies[0].slot, StrategySlot{1});
  EXPECT_EQ(strategies[0].strategy_id, "ngram");
  EXPECT_EQ(strategies[0].impl_version, "1.0");
  EXPECT_EQ(strategies[1].strategy_id, "draft");
}

TEST_F(GenerationSdkTest, SequenceCallsArrive) {
  const SequenceHandle sequence = Sequence();
  EXPECT_EQ(sequence, SequenceHandle{100});
  EXPECT_EQ(*generation().Fork(sequence, 3), SequenceHandle{101});
  EXPECT_EQ(LastCall(), "fork 100 3");
  EXPECT_EQ(*generation().LaneSequence(LaneTag{5}), SequenceHandle{101});
  EXPECT_EQ(LastCall(), "lane_sequence 5");
  EXPECT_TRUE(generation().Trim(sequence, SpaceId{2}, 77).ok());
  EXPECT_EQ(LastCall(), "trim 100 2 77");
  EXPECT_TRUE(generation().FreeSequence(sequence).ok());
  EXPECT_EQ(LastCall(), "free 100");
  generation().EndSession();
  EXPECT_EQ(LastCall(), "end");
}

TEST_F(GenerationSdkTest, StateCallsArrive) {
  const SequenceHandle sequence = Sequence();
  EXPECT_EQ(*generation().SnapshotBoundary(sequence, SpaceId{1}, 64), 63U);
  EXPECT_EQ(LastCall(), "boundary 100 1 64");
  const auto size = generation().SizeOfExport(sequence, SpaceId{1}, {16, 32}, 2);
  ASSERT_TRUE(size.ok());
  EXPECT_EQ(size->bytes, 12345U);
  EXPECT_EQ(size->sizing_gen, 678U);
  EXPECT_EQ(LastCall(), "size 100 1 16-32 2");
  EXPECT_EQ(*generation().Provenance(sequence, SpaceId{1}, {0, 8}), DigestOf(9, 8));
  EXPECT_EQ(LastCall(), "provenance 100 1 0-8");
}

TEST_F(GenerationSdkTest, AnExportArrivesAndItsBytesComeBack) {
  const SequenceHandle sequence = Sequence();
  std::vector<std::byte> out(10'000);
  auto job = generation().StartExport({sequence, SpaceId{3}, {4, 8}, 1, true},
                                      absl::MakeSpan(out).subspan(1000, 8000));
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(LastCall(), "export 100 3 4-8 1 free 8000");
  script_.step = [&](const CancelToken&) {
    script_.bytes_moved += 4000;
    std::fill(script_.out.begin(), script_.out.end(), std::byte{0xCD});
    return script_.bytes_moved == 8000 ? StateJobOutcome::kDone : StateJobOutcome::kMore;
  };
  EXPECT_EQ(*(*job)->Step({absl::Milliseconds(7)}, token_), StateJobOutcome::kMore);
  EXPECT_EQ(LastCall(), "step 7000");
  EXPECT_EQ((*job)->bytes_moved(), 4000U);
  EXPECT_EQ(*(*job)->Step({}, token_), StateJobOutcome::kDone);
  EXPECT_EQ((*job)->bytes_moved(), 8000U);
  EXPECT_EQ(out[999], std::byte{0});
  EXPECT_EQ(out[1000], std::byte{0xCD});
  EXPECT_EQ(out[8999], std::byte{0xCD});
  EXPECT_EQ(out[9000], std::byte{0});
  EXPECT_EQ((*job)->Step({}, token_).status().code(), absl::StatusCode::kFailedPrecondition);
  job->reset();
  EXPECT_EQ(script_.jobs, 0);
}

TEST_F(GenerationSdkTest, AnImportArrives) {
  const SequenceHandle sequence = Sequence();
  const std::vector<std::byte> bytes(100, std::byte{7});
  auto job =
      generation().StartImport({sequence, SpaceId{3}, {0, 8}, 1, DigestOf(5, 6), true}, bytes);
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_THAT(LastCall(), StartsWith("import 100 3 0-8 1 050606"));
  EXPECT_THAT(LastCall(), EndsWith("06 replace 100"));
  EXPECT_EQ(script_.in.data(), bytes.data());
  EXPECT_EQ(script_.in.size(), 100U);
  script_.step = [](const CancelToken&) { return StateJobOutcome::kWaiting; };
  EXPECT_EQ(*(*job)->Step({}, token_), StateJobOutcome::kWaiting);
  job->reset();
  EXPECT_EQ(script_.jobs, 0);
}

TEST_F(GenerationSdkTest, ACancelIsSeenInsideAStateStep) {
  const SequenceHandle sequence = Sequence();
  auto job = generation().StartImport({sequence, SpaceId{0}, {0, 0}, 0, {}, false}, {});
  ASSERT_TRUE(job.ok());
  script_.step = [&](const CancelToken& token) -> absl::StatusOr<StateJobOutcome> {
    EXPECT_FALSE(token.cancelled());
    token_.Cancel(CancelReason::kDeadline, 1);
    EXPECT_EQ(token.reason(), CancelReason::kDeadline);
    return absl::CancelledError("stopped");
  };
  EXPECT_EQ((*job)->Step({}, token_).status(), absl::CancelledError("state_step: stopped"));
}

TEST_F(GenerationSdkTest, CacheCallsArrive) {
  const SequenceHandle sequence = Sequence();
  const std::vector<Token> tokens = {1, 2, 3};
  const std::vector<uint64_t> media = {50, 60};
  script_.matches = {{SpaceId{0}, 2}, {SpaceId{4}, 3}};
  const auto matches = generation().Match(tokens, media);
  ASSERT_TRUE(matches.ok());
  ASSERT_EQ(matches->size(), 2U);
  EXPECT_EQ((*matches)[1].space, SpaceId{4});
  EXPECT_EQ((*matches)[1].matched_tokens, 3U);
  EXPECT_EQ(LastCall(), "match [1,2,3] [50,60]");
  const auto lease = generation().AcquireSeed(tokens, 2, 9, media);
  ASSERT_TRUE(lease.ok());
  EXPECT_EQ(lease->seed, SeedHandle{101});
  EXPECT_EQ(lease->ttl_ms, 1000U);
  EXPECT_EQ(lease->ttl_ticks, 50U);
  EXPECT_EQ(LastCall(), "acquire [1,2,3] 2 9 [50,60]");
  EXPECT_TRUE(generation().ReleaseSeed(lease->seed).ok());
  EXPECT_EQ(LastCall(), "release 101");
  EXPECT_TRUE(generation().PublishSequence(sequence, tokens, {}).ok());
  EXPECT_EQ(LastCall(), "publish 100 [1,2,3]");
  EXPECT_EQ(*generation().AdoptSequence(sequence, tokens, {}), SeedHandle{102});
  EXPECT_EQ(LastCall(), "adopt 100 [1,2,3]");
  EXPECT_TRUE(generation().Unpublish(tokens).ok());
  EXPECT_EQ(LastCall(), "unpublish [1,2,3]");
  EXPECT_EQ(*generation().EvictCache(500, {3, 4, 5}), 501U);
  EXPECT_EQ(LastCall(), "evict 500 3 4 5");
  const std::vector<CacheKey> keys = {{DigestOf(1), DigestOf(2)}, {DigestOf(3), DigestOf(4)}};
  EXPECT_TRUE(generation().EvictEntries(keys).ok());
  EXPECT_THAT(LastCall(), HasSubstr("evict_entries 0100"));
  EXPECT_THAT(LastCall(), HasSubstr("/0400"));
}

TEST_F(GenerationSdkTest, SteeringCallsArrive) {
  EXPECT_EQ(*generation().CreateGrammar("{\"type\": \"object\"}", {}), GrammarHandle{100});
  EXPECT_EQ(LastCall(), "grammar {\"type\": \"object\"}");
  EXPECT_EQ(*generation().CreateStructuralGrammar("[tags]", {}), GrammarHandle{101});
  EXPECT_EQ(LastCall(), "structural [tags]");
  EXPECT_TRUE(generation().FreeGrammar(GrammarHandle{100}).ok());
  EXPECT_EQ(LastCall(), "free_grammar 100");
  const std::vector<Token> tokens = {5, 6};
  const std::vector<float> values = {0.5F, -100};
  EXPECT_EQ(*generation().CreateLogitBias(tokens, values), LogitBiasHandle{102});
  EXPECT_EQ(LastCall(), "bias [5,6] [0.5,-100]");
  EXPECT_TRUE(generation().FreeLogitBias(LogitBiasHandle{102}).ok());
  EXPECT_EQ(LastCall(), "free_bias 102");
}

TEST_F(GenerationSdkTest, ModelCallsArrive) {
  const std::vector<Token> tokens = {1, 2};
  script_.embedding = {0.25F, -1, 3};
  EXPECT_THAT(*generation().Embed(tokens, {}), ElementsAre(0.25F, -1, 3));
  EXPECT_EQ(LastCall(), "embed [1,2]");
  script_.stage = std::string("out\0put", 7);
  EXPECT_EQ(std::get<std::string>(*generation().ForwardStage({tokens, 0, 4, false, ""}, {})),
            std::string("out\0put", 7));
  EXPECT_EQ(LastCall(), "stage [1,2] 0-4 first");
  script_.stage = Token{42};
  EXPECT_EQ(std::get<Token>(*generation().ForwardStage({tokens, 4, 8, true, "in"}, {})), 42U);
  EXPECT_EQ(LastCall(), "stage [1,2] 4-8 hidden in");
}

TEST_F(GenerationSdkTest, LongCallsShowThatTheyAreAlive) {
  const SequenceHandle sequence = Sequence();
  script_.in_call = [](const CallControl& control) { EXPECT_TRUE(control.GoOn().ok()); };
  script_.embedding = {1};
  int signs_of_life = 0;
  const CallControl control(token_, [&] { ++signs_of_life; });
  for (const absl::Status& status :
       {generation().PublishSequence(sequence, {}, control),
        generation().AdoptSequence(sequence, {}, control).status(),
        generation().Embed({}, control).status(), generation().ForwardStage({}, control).status(),
        generation().LoadAdapter("a", control).status(),
        generation().ProbeMedia("a", control).status(),
        generation().EncodeMedia("a", control).status(),
        generation().CreateGrammar("{}", control).status(),
        generation().CreateStructuralGrammar("{}", control).status()}) {
    EXPECT_TRUE(status.ok()) << status;
  }
  EXPECT_EQ(signs_of_life, 9);
}

TEST_F(GenerationSdkTest, LongCallsSeeTheirTokenWhileTheyRun) {
  CancelReason seen = CancelReason::kNone;
  script_.in_call = [&](const CallControl& control) {
    token_.Cancel(CancelReason::kDraining, 1);
    seen = control.token().reason();
    script_.failure = control.GoOn();
  };
  const CallControl control(token_, nullptr);
  EXPECT_TRUE(absl::IsCancelled(generation().Embed({}, control).status()));
  EXPECT_EQ(seen, CancelReason::kDraining);
}

TEST_F(GenerationSdkTest, ACancelThatNobodyAskedForIsAFault) {
  script_.failure = absl::CancelledError("for no reason");
  EXPECT_TRUE(absl::IsInternal(generation().LoadAdapter("a", {}).status()));
}

TEST_F(GenerationSdkTest, LargeAnswersArriveWhole) {
  script_.embedding.assign(100'000, 1.5F);
  EXPECT_EQ(generation().Embed({}, {})->size(), 100'000U);
  script_.stage = std::string(3'000'000, 'h');
  EXPECT_EQ(std::get<std::string>(*generation().ForwardStage({{}, 0, 1, false, ""}, {})).size(),
            3'000'000U);
}

TEST_F(GenerationSdkTest, AdapterAndMediaCallsArrive) {
  EXPECT_EQ(*generation().LoadAdapter("/a/b", {}), AdapterId{100});
  EXPECT_EQ(LastCall(), "load_adapter /a/b");
  EXPECT_EQ(*generation().CurrentAdapter(), AdapterId{0});
  EXPECT_TRUE(generation().UnloadAdapter().ok());
  EXPECT_EQ(LastCall(), "unload_adapter");
  const auto info = generation().ProbeMedia("/c.png", {});
  ASSERT_TRUE(info.ok());
  EXPECT_EQ(info->n_tokens, 5U);
  EXPECT_EQ(info->image_token, 1U);
  EXPECT_EQ(info->boi_token, 2U);
  EXPECT_EQ(info->eoi_token, 3U);
  EXPECT_EQ(info->preprocess_fp, 4U);
  EXPECT_EQ(LastCall(), "probe /c.png");
  const auto media = generation().EncodeMedia("/d.png", {});
  ASSERT_TRUE(media.ok());
  EXPECT_EQ(media->handle, MediaHandle{101});
  EXPECT_EQ(media->info.n_tokens, 50U);
  EXPECT_EQ(media->info.preprocess_fp, 40U);
  EXPECT_TRUE(generation().BindMedia(LaneTag{3}, media->handle, 9).ok());
  EXPECT_EQ(LastCall(), "bind 3 101 9");
  EXPECT_TRUE(generation().ReleaseMedia(media->handle).ok());
  EXPECT_EQ(LastCall(), "release_media 101");
}

TEST_F(GenerationSdkTest, AStrategyArrives) {
  StrategySpec spec{"medusa", "2.1", DigestOf(1, 2), DigestOf(3, 4), {}, {}, {}, {}, 5, 6, 7, 8};
  spec.artifacts = {{1, DigestOf(9), 10, "/p"}, {2, DigestOf(11), 12, "/q"}};
  spec.taps = {{1, 2, 3, 4}};
  spec.requirements = {{20, {1, 2, 3}}, {21, {}}};
  spec.target_archs = {"llama", "qwen"};
  script_.terms.slot = StrategySlot{30};
  script_.terms.reserved_bytes = 31;
  script_.terms.certificates = {{1, 2, 3, 4, true, false, 5, {DigestOf(6), DigestOf(7)}},
                                {8, 9, 10, 11, false, true, 12, {}},
                                {13, 14, 15, 16, true, true, 17, {DigestOf(18)}}};
  script_.terms.state_spaces = {{SpaceId{9}, "heads", 10, 11, 1, DigestOf(12)}};
  const auto terms = generation().RegisterStrategy(spec);
  ASSERT_TRUE(terms.ok()) << terms.status();
  EXPECT_EQ(LastCall(), "register " + Describe(spec));
  EXPECT_EQ(Describe(*terms), Describe(script_.terms));
}

}  // namespace
}  // namespace superfluid
