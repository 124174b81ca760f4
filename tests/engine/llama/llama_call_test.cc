// Calls that compute or read for long look at their control, and state that is computed late is
// computed under its own adapter or not at all.

#include <ggml.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "engine/llama/gguf_check.h"
#include "engine/llama/llama_state_movers.h"
#include "tests/engine/llama/llama_fixture.h"

namespace superfluid::testing {
namespace {

constexpr auto kPrecondition = absl::StatusCode::kFailedPrecondition;

class LlamaCallTest : public LlamaFixture {
 protected:
  // A control that counts signs of life and is cancelled at the n-th.
  struct Watch {
    explicit Watch(int cancel_at = 0)
        : control(token, [this, cancel_at] {
            if (++signs == cancel_at) token.Cancel(CancelReason::kRequested, 1);
          }) {}
    CancelToken token;
    int signs = 0;
    CallControl control;
  };

  // A sequence of `prompt`, all but its last token computed.
  SequenceHandle Prefill(const std::vector<Token>& prompt) {
    const Script script = Greedy(prompt, 0);
    const auto made = driver().RunLane(driver().LaneFor(script, {}, script.prompt, 0));
    EXPECT_TRUE(made.ok()) << made.status();
    return made.ok() ? made->sequence : SequenceHandle{};
  }
  // A sequence of `prompt`, of which nothing is computed.
  SequenceHandle Append(const std::vector<Token>& prompt) {
    const Script script = Greedy(prompt, 0);
    CancelToken token;
    token.Cancel(CancelReason::kRequested, 1);
    QuietHost host;
    const auto results = RunTick({driver().LaneFor(script, {}, script.prompt, 0)}, token, host);
    EXPECT_EQ(results[0].position, prompt.size());
    return results[0].sequence;
  }
  void Load(const std::string& adapter) {
    ASSERT_TRUE(generation().LoadAdapter(ModelFile(adapter), {}).ok());
  }
  uint64_t Matched(const std::vector<Token>& tokens) {
    return (*generation().Match(tokens, {}))[0].matched_tokens;
  }
  absl::StatusCode ExportTo(SequenceHandle sequence, uint64_t end) {
    return generation().SizeOfExport(sequence, kLlamaKvSpace, {0, end}, 0).status().code();
  }
  static std::string Temporary(const std::string& name, const std::string& bytes) {
    std::string path = ::testing::TempDir() + "/" + name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  static std::string Bytes(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
};

TEST_F(LlamaCallTest, AnEmbeddingLooksAtItsControlBetweenPasses) {
  const std::vector<Token> prompt = Prompt(600);
  Watch watch;
  const auto whole = generation().Embed(prompt, watch.control);
  ASSERT_TRUE(whole.ok()) << whole.status();
  EXPECT_GE(watch.signs, 2);
  Watch stopped(2);
  EXPECT_TRUE(absl::IsCancelled(generation().Embed(prompt, stopped.control).status()));
  EXPECT_EQ(stopped.signs, 2);
  EXPECT_EQ(engine_->Memory().pool_blocks_used, 0U);
  EXPECT_TRUE(generation_->CheckInvariants());
  EXPECT_EQ(Draw(Greedy(Prompt(12), 6)).size(), 6U);
}

TEST_F(LlamaCallTest, AnEmbeddingIsStoppedInsideAPassToo) {
  struct Countdown {
    int looks = 0;
  } countdown;
  const CancelToken token(
      [](void* context) noexcept {
        return ++static_cast<Countdown*>(context)->looks > 10 ? CancelReason::kRequested
                                                              : CancelReason::kNone;
      },
      &countdown);
  const CallControl control(token, nullptr);
  EXPECT_TRUE(absl::IsCancelled(generation().Embed(Prompt(8), control).status()));
  EXPECT_EQ(engine_->Memory().pool_blocks_used, 0U);
  EXPECT_TRUE(generation().Embed(Prompt(8), {}).ok());
}

TEST_F(LlamaCallTest, APublishingThatWasStoppedCanBeDoneAgain) {
  const Script script = Greedy(Prompt(608), 4);
  const std::vector<Token> expected = Draw(script);
  const SequenceHandle sequence = Append(script.prompt);
  Watch stopped(2);
  EXPECT_TRUE(
      absl::IsCancelled(generation().PublishSequence(sequence, script.prompt, stopped.control)));
  EXPECT_EQ(stopped.signs, 2);
  EXPECT_TRUE(absl::IsCancelled(
      generation().AdoptSequence(sequence, script.prompt, Watch(1).control).status()));
  EXPECT_EQ(Matched(script.prompt), 0U);
  EXPECT_TRUE(generation_->CheckInvariants());
  Watch watch;
  EXPECT_TRUE(generation().PublishSequence(sequence, script.prompt, watch.control).ok());
  EXPECT_GE(watch.signs, 1);
  EXPECT_EQ(Matched(script.prompt), 608U);
  EXPECT_EQ(driver().Continue(script, expected, sequence, 608), absl::OkStatus());
}

TEST_F(LlamaCallTest, WhatIsStillToBeComputedIsNotPublishedUnderAnotherAdapter) {
  const std::vector<Token> prompt = Prompt(32);
  Load("tiny_lora.gguf");
  const SequenceHandle sequence = Prefill(prompt);
  for (const bool unload : {true, false}) {
    if (unload) {
      ASSERT_TRUE(generation().UnloadAdapter().ok());
    } else {
      Load("tiny_lora_other.gguf");
    }
    EXPECT_EQ(generation().PublishSequence(sequence, prompt, {}).code(), kPrecondition);
    EXPECT_EQ(generation().AdoptSequence(sequence, prompt, {}).status().code(), kPrecondition);
  }
  Load("tiny_lora.gguf");
  EXPECT_EQ(Matched(prompt), 0U);
}

TEST_F(LlamaCallTest, WhatIsComputedIsPublishedUnderItsOwnAdapter) {
  const std::vector<Token> prompt = Prompt(32);
  Load("tiny_lora.gguf");
  const SequenceHandle sequence = Prefill(prompt);
  ASSERT_TRUE(generation().UnloadAdapter().ok());
  const auto first_block = absl::MakeConstSpan(prompt).first(16);
  EXPECT_TRUE(generation().PublishSequence(sequence, first_block, {}).ok());
  EXPECT_EQ(Matched(prompt), 0U);
  Load("tiny_lora.gguf");
  EXPECT_EQ(Matched(prompt), 16U);
}

TEST_F(LlamaCallTest, WhatIsStillToBeComputedIsNotExportedUnderAnotherAdapter) {
  Load("tiny_lora.gguf");
  const SequenceHandle sequence = Prefill(Prompt(32));
  EXPECT_EQ(ExportTo(sequence, 32), absl::StatusCode::kOk);
  EXPECT_EQ(*generation().SnapshotBoundary(sequence, kLlamaKvSpace, 40), 32U);
  Load("tiny_lora_other.gguf");
  EXPECT_EQ(ExportTo(sequence, 32), kPrecondition);
  EXPECT_EQ(ExportTo(sequence, 31), absl::StatusCode::kOk);
  EXPECT_EQ(*generation().SnapshotBoundary(sequence, kLlamaKvSpace, 40), 31U);
  EXPECT_TRUE(driver().Export(sequence, kLlamaKvSpace, {0, 31}, 0, false).ok());
}

// A job that began under the right adapter: the worker lets nobody load another one meanwhile, but
// the engine does not rely on that.
TEST_F(LlamaCallTest, AnExportThatWaitsToComputeLooksAtTheAdapterAgain) {
  Load("tiny_lora.gguf");
  const SequenceHandle sequence = Prefill(Prompt(32));
  StateExport what;
  what.sequence = sequence;
  what.space = kLlamaKvSpace;
  what.range = {0, 32};
  std::vector<std::byte> out(generation().SizeOfExport(sequence, what.space, what.range, 0)->bytes);
  auto job = generation().StartExport(what, absl::MakeSpan(out));
  ASSERT_TRUE(job.ok()) << job.status();
  ASSERT_TRUE(generation().UnloadAdapter().ok());
  const CancelToken token;
  EXPECT_EQ((*job)->Step({}, token).status().code(), kPrecondition);
}

TEST_F(LlamaCallTest, AnAdapterWhoseLoadingIsStoppedLeavesTheOneBefore) {
  Watch watch;
  const auto before = generation().LoadAdapter(ModelFile("tiny_lora.gguf"), watch.control);
  ASSERT_TRUE(before.ok()) << before.status();
  EXPECT_GE(watch.signs, 2) << "reading is a sign of life";
  for (int sign = 1; sign <= watch.signs; ++sign) {
    Watch stopped(sign);
    const auto other = generation().LoadAdapter(ModelFile("tiny_lora_other.gguf"), stopped.control);
    EXPECT_TRUE(absl::IsCancelled(other.status())) << sign << " " << other.status();
    EXPECT_EQ(*generation().CurrentAdapter(), *before);
  }
}

TEST_F(LlamaCallTest, AnAdapterThatHoldsNoNumbersIsRefused) {
  std::string bytes = Bytes(ModelFile("tiny_lora.gguf"));
  ASSERT_GT(bytes.size(), 4096U);
  const auto facts = CheckGguf(ModelFile("tiny_lora.gguf"));
  ASSERT_TRUE(facts.ok());
  ASSERT_FALSE(facts->tensors.empty());
  const float no_number = std::numeric_limits<float>::quiet_NaN();
  std::memcpy(bytes.data() + facts->tensors.back().start, &no_number, sizeof(no_number));
  const auto loaded = generation().LoadAdapter(Temporary("nan_lora.gguf", bytes), {});
  EXPECT_TRUE(absl::IsInvalidArgument(loaded.status())) << loaded.status();
  EXPECT_EQ(*generation().CurrentAdapter(), AdapterId{});
}

TEST_F(LlamaCallTest, AnAdapterIsKnownByEachOfItsBytes) {
  std::string bytes = Bytes(ModelFile("tiny_lora.gguf"));
  const std::string path = Temporary("same_lora.gguf", bytes);
  const auto facts = CheckGguf(path);
  ASSERT_TRUE(facts.ok());
  const auto before = CheckGgufTensors(path, *facts, CallControl());
  ASSERT_TRUE(before.ok()) << before.status();
  for (const GgufFacts::Tensor& tensor : facts->tensors) {
    std::string changed = bytes;
    changed[tensor.start] = static_cast<char>(changed[tensor.start] ^ 1);
    const auto after =
        CheckGgufTensors(Temporary("other_lora.gguf", changed), *facts, CallControl());
    ASSERT_TRUE(after.ok()) << after.status();
    EXPECT_NE(*after, *before) << tensor.name;
  }
}

TEST_F(LlamaCallTest, ATensorOfATypeThatNothingIsComputedWithIsRefused) {
  GgufFacts facts;
  facts.tensors.push_back({"whole.numbers", GGML_TYPE_I32, 0, 8});
  const absl::Status status =
      CheckGgufTensors(Temporary("numbers", "12345678"), facts, CallControl()).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
}

TEST_F(LlamaCallTest, StateInLargerPartsThanOurOwnIsRefused) {
  const std::vector<Token> prompt = Prompt(32);
  const SequenceHandle sequence = Prefill(prompt);
  auto image = driver().Export(sequence, kLlamaKvSpace, {0, 32}, 0, false);
  ASSERT_TRUE(image.ok()) << image.status();
  const uint32_t part = 1U << 20U;  // the third word of the header
  std::memcpy(image->bytes.data() + 8, &part, sizeof(part));
  StateImport what = image->what;
  what.sequence = Append(prompt);
  what.replace = true;
  const auto job = generation().StartImport(what, image->bytes);
  EXPECT_TRUE(absl::IsInvalidArgument(job.status())) << job.status();
}

}  // namespace
}  // namespace superfluid::testing
