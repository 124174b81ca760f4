// The smaller parts: steering, files, adapter, media, stages, strategies, the codec of rows.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "engine/generation/media_book.h"
#include "engine/generation/strategy_book.h"
#include "engine/sampling/logit_biases.h"
#include "engine/sim/sim_drafters.h"
#include "engine/sim/sim_kv_codec.h"
#include "engine/sim/sim_media.h"
#include "engine/sim/sim_stage.h"
#include "engine/sim/sim_token_model.h"
#include "tests/engine/sim/sim_generation_fixture.h"

namespace superfluid {
namespace {

using testing::HasCode;
using testing::kExhausted;
using testing::kInvalid;
using testing::kNotFound;
using testing::kPrecondition;
using testing::kUnimplemented;

class SimPartsTest : public testing::SimGenerationTest {
 protected:
  HandleSource handles_;
  SimTokenModel model_{*ParseSimOptions(testing::ConfigWith({{"context", "1000"}})), clock_};
};

TEST_F(SimPartsTest, BiasesAreChecked) {
  LogitBiases biases(handles_, 256);
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_THAT(biases.Add({1}, {}), HasCode(kInvalid));
  EXPECT_THAT(biases.Add({256}, {1}), HasCode(kInvalid));
  EXPECT_THAT(biases.Add({1, 1}, {1, 1}), HasCode(kInvalid));
  EXPECT_THAT(biases.Add({1}, {NAN}), HasCode(kInvalid));
  EXPECT_THAT(biases.Add({1}, {infinity}), HasCode(kInvalid));
  const auto bias = biases.Add({1, 2}, {-infinity, 3});
  ASSERT_TRUE(bias.ok());
  EXPECT_EQ((*biases.Find(*bias))->size(), 2U);
  EXPECT_TRUE(biases.Free(*bias).ok());
  EXPECT_THAT(biases.Free(*bias), HasCode(kNotFound));
  EXPECT_THAT(biases.Find(*bias), HasCode(kNotFound));
  for (size_t i = 0; i < kMaxLogitBiases; ++i) ASSERT_TRUE(biases.Add({1}, {1}).ok());
  EXPECT_THAT(biases.Add({1}, {1}), HasCode(kExhausted));
}

TEST_F(SimPartsTest, AdaptersAreFiles) {
  const auto load = [&](const std::string& path) { return model_.LoadAdapter(path, {}); };
  EXPECT_THAT(load("/nowhere"), HasCode(kNotFound));
  EXPECT_THAT(load(::testing::TempDir()), ::testing::Not(HasCode(absl::StatusCode::kOk)));
  EXPECT_THAT(load(WriteFile("empty", "")), HasCode(kInvalid));
  const std::string big(kSimMaxAdapterBytes, 'x');
  EXPECT_THAT(load(WriteFile("big", big + "x")), HasCode(kInvalid));
  const auto fingerprint = load(WriteFile("fits", big));
  ASSERT_TRUE(fingerprint.ok());
  EXPECT_EQ(model_.Memory().allocated_bytes, kSimMaxAdapterBytes);
  EXPECT_THAT(load("/nowhere"), HasCode(kNotFound));
  EXPECT_EQ(model_.Memory().allocated_bytes, kSimMaxAdapterBytes);
  EXPECT_EQ(*load(WriteFile("fits", big)), *fingerprint);
  EXPECT_NE(*load(WriteFile("other", "y")), *fingerprint);
  model_.UnloadAdapter();
  EXPECT_EQ(model_.Memory().allocated_bytes, 0U);
}

TEST_F(SimPartsTest, AdaptersHaveAnotherIdEachTime) {
  const std::string file = WriteFile("fits", "x");
  const auto first = generation_->LoadAdapter(file, {});
  ASSERT_TRUE(first.ok());
  EXPECT_THAT(generation_->LoadAdapter("/nowhere", {}), HasCode(kNotFound));
  EXPECT_EQ(*generation_->CurrentAdapter(), *first);
  EXPECT_NE(*generation_->LoadAdapter(file, {}), *first);
  ASSERT_TRUE(generation_->UnloadAdapter().ok());
  EXPECT_EQ(*generation_->CurrentAdapter(), AdapterId{});
}

TEST_F(SimPartsTest, MediaHaveTokensBySize) {
  MediaBook media(handles_, model_.media(), "");
  EXPECT_THAT(media.Probe("/nowhere", {}), HasCode(kNotFound));
  const auto info = media.Probe(WriteFile("media", std::string(65, 'm')), {});
  ASSERT_TRUE(info.ok());
  EXPECT_EQ(info->n_tokens, 2U);
  EXPECT_NE(info->preprocess_fp, 0U);
  EXPECT_EQ(media.Probe(WriteFile("large", std::string(1 << 20, 'm')), {})->n_tokens, 256U);
  const auto encoded = media.Encode(WriteFile("media", std::string(65, 'm')), {});
  ASSERT_TRUE(encoded.ok());
  EXPECT_EQ(encoded->info.preprocess_fp, info->preprocess_fp);
  EXPECT_TRUE(media.Release(encoded->handle).ok());
  EXPECT_THAT(media.Release(encoded->handle), HasCode(kNotFound));
  EXPECT_THAT(media.Bind(LaneTag{1}, encoded->handle, 0), HasCode(kNotFound));
}

TEST_F(SimPartsTest, BindingsAreTakenOnce) {
  MediaBook media(handles_, model_.media(), "");
  const std::vector<Token> input = Tokens(5);
  const auto one = media.Encode(WriteFile("one", std::string(100, '1')), {});  // two tokens
  ASSERT_TRUE(one.ok());
  ASSERT_TRUE(media.Bind(LaneTag{1}, one->handle, 3).ok());
  const auto bound = media.TakeBindings(LaneTag{1}, input);
  ASSERT_TRUE(bound.ok());
  EXPECT_EQ(MarksOf(*bound),
            (MediaMap{{3, one->info.preprocess_fp}, {4, one->info.preprocess_fp}}));
  EXPECT_TRUE(media.TakeBindings(LaneTag{1}, input)->empty());
  ASSERT_TRUE(media.Bind(LaneTag{1}, one->handle, 4).ok());
  EXPECT_THAT(media.TakeBindings(LaneTag{1}, input), HasCode(kInvalid));
  ASSERT_TRUE(media.Bind(LaneTag{1}, one->handle, UINT64_MAX).ok());
  EXPECT_THAT(media.TakeBindings(LaneTag{1}, input), HasCode(kInvalid));
  ASSERT_TRUE(media.Bind(LaneTag{1}, one->handle, 0).ok());
  ASSERT_TRUE(media.Bind(LaneTag{1}, one->handle, 1).ok());
  EXPECT_THAT(media.TakeBindings(LaneTag{1}, input), HasCode(kInvalid));
  for (size_t i = 0; i < kMaxMediaBindings; ++i) {
    ASSERT_TRUE(media.Bind(LaneTag{i}, one->handle, 0).ok());
  }
  EXPECT_THAT(media.Bind(LaneTag{1}, one->handle, 0), HasCode(kExhausted));
}

TEST_F(SimPartsTest, EmbeddingsAreNormalised) {
  const auto embedding = generation_->Embed({1, 2, 3}, {});
  ASSERT_TRUE(embedding.ok());
  ASSERT_EQ(embedding->size(), kSimEmbeddingSize);
  double squares = 0;
  for (const float value : *embedding) squares += double{value} * value;
  EXPECT_NEAR(squares, 1, 1e-5);
  EXPECT_EQ(*generation_->Embed({1, 2, 3}, {}), *embedding);
  EXPECT_NE(*generation_->Embed({1, 3, 2}, {}), *embedding);
  EXPECT_THAT(generation_->Embed({}, {}), HasCode(kInvalid));
  EXPECT_THAT(generation_->Embed({256}, {}), HasCode(kInvalid));
  ASSERT_TRUE(generation_->LoadAdapter(WriteFile("lora", "l"), {}).ok());
  EXPECT_NE(*generation_->Embed({1, 2, 3}, {}), *embedding);
}

TEST_F(SimPartsTest, CallsLookAtTheirControlBetweenPasses) {
  Make({{"call_passes", "5"}});
  const SequenceHandle sequence = Prefill(Tokens(16));
  const std::string file = WriteFile("call_file", "f");
  const std::vector<Token> tokens = Tokens(16);
  const std::vector<std::function<absl::Status(const CallControl&)>> calls = {
      [&](const CallControl& control) { return generation_->Embed(tokens, control).status(); },
      [&](const CallControl& control) {
        return generation_->ForwardStage({tokens, 0, 8, false, ""}, control).status();
      },
      [&](const CallControl& control) { return generation_->LoadAdapter(file, control).status(); },
      [&](const CallControl& control) { return generation_->ProbeMedia(file, control).status(); },
      [&](const CallControl& control) { return generation_->EncodeMedia(file, control).status(); },
      [&](const CallControl& control) {
        return generation_->AdoptSequence(sequence, tokens, control).status();
      },
      [&](const CallControl& control) {
        return generation_->PublishSequence(sequence, tokens, control);
      }};
  for (const auto& call : calls) {
    int signs = 0;
    CancelToken token;
    EXPECT_TRUE(absl::IsCancelled(call(CallControl(token, [&] {
      if (++signs == 3) token.Cancel(CancelReason::kRequested, 1);
    }))));
    EXPECT_EQ(signs, 3);
  }
  EXPECT_EQ(*generation_->CurrentAdapter(), AdapterId{});
  EXPECT_EQ((*generation_->Match(tokens, {}))[0].matched_tokens, 0U);
  for (const auto& call : calls) {
    int signs = 0;
    const CancelToken token;
    const absl::Status status = call(CallControl(token, [&] { ++signs; }));
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_EQ(signs, 6);
  }
}

TEST_F(SimPartsTest, StagesMayBeSplitAnywhere) {
  const std::vector<Token> tokens = Tokens(9);
  const auto run = [&](const std::vector<uint32_t>& cuts) {
    StageWork work;
    work.tokens = tokens;
    std::string hidden;
    Token token = 0;
    for (const uint32_t end : cuts) {
      work.end_layer = end;
      work.hidden = hidden;
      const auto output = generation_->ForwardStage(work, {});
      EXPECT_TRUE(output.ok()) << output.status();
      if (std::holds_alternative<Token>(*output)) token = std::get<Token>(*output);
      if (end < kSimLayers) hidden = std::get<std::string>(*output);
      work.start_layer = end;
      work.has_hidden = true;
    }
    return token;
  };
  const Token whole = run({8});
  EXPECT_LT(whole, 256U);
  for (uint32_t cut = 1; cut < kSimLayers; ++cut) EXPECT_EQ(run({cut, 8}), whole);
  EXPECT_EQ(run({1, 2, 3, 4, 5, 6, 7, 8}), whole);
}

TEST_F(SimPartsTest, StagesCheckTheirShapes) {
  const std::vector<Token> tokens = {1, 2};
  const std::string hidden(2 * kSimHiddenBytes, 'h');
  const auto forward = [&](uint32_t start, uint32_t end, bool has_hidden, absl::string_view state) {
    return generation_->ForwardStage({tokens, start, end, has_hidden, state}, {});
  };
  EXPECT_TRUE(forward(3, 4, true, hidden).ok());
  EXPECT_THAT(forward(0, 9, false, ""), HasCode(kInvalid));
  EXPECT_THAT(forward(3, 3, true, hidden), HasCode(kInvalid));
  EXPECT_THAT(forward(0, 1, true, hidden), HasCode(kInvalid));
  EXPECT_THAT(forward(1, 2, false, ""), HasCode(kInvalid));
  EXPECT_THAT(forward(1, 2, true, absl::string_view(hidden).substr(1)), HasCode(kInvalid));
  EXPECT_THAT(generation_->ForwardStage({{}, 0, 8, false, ""}, {}), HasCode(kInvalid));
}

TEST_F(SimPartsTest, HiddenStateMatters) {
  const std::vector<Token> tokens = {1};
  std::vector<Token> seen;
  for (size_t i = 0; i < kSimHiddenBytes; ++i) {
    std::string hidden(kSimHiddenBytes, 'h');
    hidden[i] = 'H';
    seen.push_back(std::get<Token>(*generation_->ForwardStage({tokens, 7, 8, true, hidden}, {})));
  }
  EXPECT_GT(std::set<Token>(seen.begin(), seen.end()).size(), 40U);
}

class SimStrategyTest : public SimPartsTest {
 protected:
  StrategyBook Strategies() {
    return {model_.facts().offer, model_.facts().built_in_strategy,
            [this](const StrategyId& id) { return model_.MakeDrafter(id); }};
  }
};

StrategySpec Spec(const std::string& id) {
  StrategySpec spec;
  spec.strategy_id = id;
  spec.rng_contract_version = 1;
  return spec;
}

TEST_F(SimStrategyTest, AreGranted) {
  StrategyBook strategies = Strategies();
  EXPECT_EQ(strategies.BuiltIns().front().strategy_id, "sim.ngram");
  EXPECT_EQ(*strategies.Find({}), nullptr);
  EXPECT_NE(*strategies.Find(kBuiltInSlot), nullptr);
  StrategySpec spec = Spec("sim.oracle:drafts=7,wrong=3");
  spec.target_archs = {"other", "sim"};
  spec.kernel_caps_required = kSimKernelCaps;
  spec.requirements = {{kRequiresContext, {1000}}, {kRequiresVocab, {256}}};
  spec.taps = {{7, 0, 0, 0}};
  spec.claimed_exactness = 1;
  spec.est_state_bytes = 123;
  spec.artifacts = {{1, {}, 1, WriteFile("draft", "model")}};
  const auto terms = strategies.Register(spec);
  ASSERT_TRUE(terms.ok()) << terms.status();
  EXPECT_EQ(terms->reserved_bytes, 123U);
  ASSERT_EQ(terms->certificates.size(), 1U);
  EXPECT_EQ(terms->certificates[0].exactness, 1U);
  const auto& drafter = static_cast<const SimDrafter&>(**strategies.Find(terms->slot));
  EXPECT_TRUE(drafter.options().oracle);
  EXPECT_EQ(drafter.options().drafts, 7U);
  EXPECT_EQ(drafter.options().wrong, 3U);
  strategies.Clear();
  EXPECT_THAT(strategies.Find(terms->slot), HasCode(kNotFound));
  EXPECT_NE(strategies.Register(spec)->slot, terms->slot);
}

TEST_F(SimStrategyTest, AreRefused) {
  StrategyBook strategies = Strategies();
  const auto refused = [&](auto change) {
    StrategySpec spec = Spec("sim.ngram");
    change(spec);
    return strategies.Register(spec);
  };
  EXPECT_THAT(refused([](auto& s) { s.strategy_id = "sim.magic"; }), HasCode(kUnimplemented));
  EXPECT_THAT(refused([](auto& s) { s.strategy_id = ""; }), HasCode(kUnimplemented));
  for (const char* id : {"sim.ngram:n=0", "sim.ngram:n", "sim.ngram:x=1", "sim.ngram:wrong=101"}) {
    EXPECT_THAT(refused([id](auto& s) { s.strategy_id = id; }), HasCode(kInvalid)) << id;
  }
  EXPECT_THAT(refused([](auto& s) { s.target_archs = {"llama"}; }), HasCode(kPrecondition));
  EXPECT_THAT(refused([](auto& s) { s.kernel_caps_required = 0x10; }), HasCode(kPrecondition));
  EXPECT_THAT(refused([](auto& s) { s.rng_contract_version = 2; }), HasCode(kPrecondition));
  EXPECT_THAT(refused([](auto& s) { s.claimed_exactness = 2; }), HasCode(kPrecondition));
  EXPECT_THAT(refused([](auto& s) { s.taps = {{8, 0, 0, 0}}; }), HasCode(kPrecondition));
  EXPECT_THAT(refused([](auto& s) { s.requirements = {{9, {1}}}; }), HasCode(kPrecondition));
  EXPECT_THAT(refused([](auto& s) { s.requirements = {{1, {1001}}}; }), HasCode(kPrecondition));
  EXPECT_THAT(refused([](auto& s) { s.requirements = {{2, {}}}; }), HasCode(kPrecondition));
  EXPECT_THAT(refused([](auto& s) { s.artifacts = {{1, {}, 1, "/nowhere"}}; }), HasCode(kNotFound));
  EXPECT_THAT(refused([](auto& s) { s.est_state_bytes = UINT64_MAX; }), HasCode(kExhausted));
  for (size_t i = 0; i < kMaxStrategies; ++i) {
    ASSERT_TRUE(strategies.Register(Spec("sim.ngram")).ok());
  }
  EXPECT_THAT(strategies.Register(Spec("sim.ngram")), HasCode(kExhausted));
}

TEST_F(SimPartsTest, NgramsAreLookedUp) {
  const auto drafts = [&](const std::vector<Token>& history, uint32_t wrong) {
    SimSequence sequence(model_.pool, {});
    EXPECT_TRUE(sequence.Append(history, /*drawn=*/false).ok());
    SimDrafter::Options options;
    options.wrong = wrong;
    const SamplingParams sampling;
    return SimDrafter(options, 256).Draft({&sequence, &sampling, nullptr, nullptr});
  };
  const std::vector<Token> history = {1, 2, 9, 8, 7, 6, 5, 1, 2};
  EXPECT_THAT(drafts(history, 0), ::testing::ElementsAre(9, 8, 7, 6));
  EXPECT_THAT(drafts(history, 100), ::testing::ElementsAre(10, 9, 8, 7));
  EXPECT_EQ(drafts({1, 2, 3}, 100).size(), 1U);
}

TEST_F(SimPartsTest, RowCodecIsReversible) {
  for (const uint32_t encoding : {kSimRawEncoding, kSimPlanesEncoding}) {
    for (const uint64_t rows : {0U, 1U, 5U}) {
      std::vector<std::byte> bytes(SimKvBytes(rows, encoding));
      SimKvWriter writer(rows, encoding, absl::MakeSpan(bytes));
      const auto row = [](uint64_t i) {
        SimRowBytes made{};
        for (size_t j = 0; j < made.size(); ++j) made[j] = static_cast<std::byte>(i * 31 + j);
        return made;
      };
      for (uint64_t i = rows; i-- > 0;) writer.Put(i, row(i));
      const SimKvReader reader(rows, encoding, bytes);
      ASSERT_TRUE(reader.Check().ok());
      for (uint64_t i = 0; i < rows; ++i) EXPECT_EQ(reader.Get(i), row(i));
      EXPECT_THAT(SimKvReader(rows + 1, encoding, bytes).Check(), HasCode(kInvalid));
    }
  }
}

TEST_F(SimPartsTest, RowCodecChecksItsHeader) {
  std::vector<std::byte> bytes(SimKvBytes(1, kSimPlanesEncoding));
  SimKvWriter writer(1, kSimPlanesEncoding, absl::MakeSpan(bytes));
  for (size_t i = 0; i < 8; ++i) {
    bytes[i] ^= std::byte{1};
    EXPECT_THAT(SimKvReader(1, kSimPlanesEncoding, bytes).Check(), HasCode(kInvalid)) << i;
    bytes[i] ^= std::byte{1};
  }
  EXPECT_TRUE(SimKvReader(1, kSimPlanesEncoding, bytes).Check().ok());
}

}  // namespace
}  // namespace superfluid
